//! Separates code from comments and from quoted text.
//!
//! It is not a parser: it knows just enough of Rust's grammar that a word in a comment is not taken for code, and a
//! brace in a string is not counted.

/// A source text in two versions with the same lines: one with only its code, one with only its comments. Everything
/// else is blank.
#[derive(Debug)]
pub(crate) struct Masked {
    /// Code, with the contents of strings and characters blanked.
    pub(crate) code: String,
    /// Comments, with their marks.
    pub(crate) comments: String,
}

impl Masked {
    /// Splits a source text.
    pub(crate) fn new(text: &str) -> Self {
        let mut masker = Masker { rest: text, code: String::new(), comments: String::new() };
        while !masker.rest.is_empty() {
            masker.step();
        }
        Self { code: masker.code, comments: masker.comments }
    }
}

/// The kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Quoted,
}

struct Masker<'a> {
    rest: &'a str,
    code: String,
    comments: String,
}

impl Masker<'_> {
    /// Takes the next piece: a comment, a quoted text, or one word or character of code.
    fn step(&mut self) {
        let rest = self.rest;
        let (kind, length) = if rest.starts_with("//") {
            (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (Kind::Comment, block_comment(rest))
        } else if let Some(length) = raw_string(rest) {
            (Kind::Quoted, length)
        } else if rest.starts_with('"') {
            (Kind::Quoted, quoted(rest, '"'))
        } else if is_character(rest) {
            (Kind::Quoted, quoted(rest, '\''))
        } else {
            (Kind::Code, word(rest))
        };
        self.take(kind, length);
    }

    fn take(&mut self, kind: Kind, length: usize) {
        let (piece, rest) = self.rest.split_at(length);
        for c in piece.chars() {
            let blank = if c == '\n' { '\n' } else { ' ' };
            self.code.push(if kind == Kind::Code { c } else { blank });
            self.comments.push(if kind == Kind::Comment { c } else { blank });
        }
        self.rest = rest;
    }
}

/// Returns the length of a block comment, which may contain others.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns the length of a raw string (`r"…"`, `br#"…"#`), if one begins here.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or(text.strip_prefix("cr")).or(text.strip_prefix('r'))?;
    let body = after.trim_start_matches('#');
    let hashes = after.len() - body.len();
    let body = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begins = text.len() - body.len();
    Some(body.find(&end).map_or(text.len(), |at| begins + at + end.len()))
}

/// Returns the length of a quoted text with escapes.
fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && c == mark {
            return at + c.len_utf8();
        }
        escaped = !escaped && c == '\\';
    }
    text.len()
}

/// Returns true if a character literal begins here; `'a` alone is a lifetime.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars();
    let (mark, first, second) = (chars.next(), chars.next(), chars.next());
    mark == Some('\'') && (first == Some('\\') || second == Some('\''))
}

/// Returns the length of a word, or of one other character. Words are taken whole, so that the `r` at the end of one
/// does not begin a raw string.
fn word(text: &str) -> usize {
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    if end > 0 { end } else { text.chars().next().map_or(1, char::len_utf8) }
}

/// Returns true if the character can be part of a name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_code_from_the_rest() {
        let cases = [
            ("a comment", "a // b\nc", "a     \nc"),
            ("a nested comment", "a /* b /* c */ d */ e", "a                   e"),
            ("a string", r#"a("b \" c") d"#, "a(        ) d"),
            ("a raw string", "r#\"a\"b\"# c", "         c"),
            ("a word that ends in r", "for \"x\"", "for    "),
            ("a character", r"a('{', '\'') b", "a(   ,     ) b"),
            ("a lifetime", "fn a<'a>(b: &'a str)", "fn a<'a>(b: &'a str)"),
            ("a quote that does not end", "a \"b", "a   "),
            ("not only ASCII", "«a» // ü\nb", "«a»     \nb"),
        ];
        for (name, text, want) in cases {
            assert_eq!(Masked::new(text).code, want, "{name}");
        }
    }

    #[test]
    fn keeps_comments_apart() {
        let masked = Masked::new("a // b \"c\"\n\"// d\" /* e */");

        assert_eq!(masked.comments, "  // b \"c\"\n       /* e */");
    }
}

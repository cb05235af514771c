//! Parses `MarkdownV2` as Telegram does: an independent check of our adapter's output.

/// Characters that must be escaped outside of code and links.
const RESERVED: &str = "_*[]()~`>#+-=|{}.!";

/// Returns the visible text of a `MarkdownV2` text, or its error.
pub fn plain(text: &str) -> Result<String, String> {
    let mut reader =
        Reader { rest: text, at: 0, out: String::new(), open: Vec::new(), is_new_line: true };
    while !reader.rest.is_empty() {
        reader.step()?;
    }
    match reader.open.pop() {
        None => Ok(reader.out),
        Some(open) => Err(format!("can't find end of {open:?} entity")),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Bold,
    Italic,
    Underline,
    Strike,
    Spoiler,
    Link,
}

struct Reader<'t> {
    rest: &'t str,
    at: usize,
    out: String,
    open: Vec<Mark>,
    is_new_line: bool,
}

impl Reader<'_> {
    fn step(&mut self) -> Result<(), String> {
        if self.rest.starts_with("```") {
            return self.code("```", true);
        }
        if self.rest.starts_with('`') {
            return self.code("`", false);
        }
        for (sign, mark) in [
            ("__", Mark::Underline),
            ("||", Mark::Spoiler),
            ("*", Mark::Bold),
            ("_", Mark::Italic),
            ("~", Mark::Strike),
        ] {
            if self.rest.starts_with(sign) {
                self.skip(sign.len());
                return self.toggle(mark);
            }
        }
        if self.rest.starts_with('[') {
            self.skip(1);
            self.open.push(Mark::Link);
            return Ok(());
        }
        if self.rest.starts_with(']') && self.open.contains(&Mark::Link) {
            return self.address();
        }
        self.character()
    }

    fn character(&mut self) -> Result<(), String> {
        let mut chars = self.rest.chars();
        let Some(mut c) = chars.next() else { return Ok(()) };
        let escaped = chars.next().filter(|next| c == '\\' && matches!(*next, '\u{1}'..='\u{7e}'));
        let is_quote = c == '>' && self.is_new_line;
        if let Some(escaped) = escaped {
            self.skip(1);
            c = escaped;
        } else if RESERVED.contains(c) && !is_quote {
            return Err(format!("character '{c}' is reserved and must be escaped at {}", self.at));
        }
        self.skip(c.len_utf8());
        if !(is_quote && escaped.is_none()) {
            self.out.push(c);
        }
        self.is_new_line = c == '\n';
        Ok(())
    }

    /// Opens a mark, or closes it if it was opened last.
    fn toggle(&mut self, mark: Mark) -> Result<(), String> {
        if self.open.last() == Some(&mark) {
            self.open.pop();
        } else if self.open.contains(&mark) {
            return Err(format!("can't find end of {:?} entity at {}", self.open.last(), self.at));
        } else {
            self.open.push(mark);
        }
        Ok(())
    }

    /// Reads code up to its end: only two characters are special there.
    fn code(&mut self, fence: &str, is_block: bool) -> Result<(), String> {
        let began = self.at;
        self.skip(fence.len());
        if is_block {
            let language = self
                .rest
                .find('\n')
                .filter(|end| self.rest[..*end].chars().all(|c| !c.is_whitespace() && c != '`'));
            self.skip(language.map_or(0, |end| end + 1));
        }
        while !self.rest.starts_with(fence) {
            let mut chars = self.rest.chars();
            let Some(mut c) = chars.next() else {
                return Err(format!("can't find end of code at {began}"));
            };
            if c == '\\' && chars.next().is_some_and(|next| matches!(next, '\u{1}'..='\u{7e}')) {
                self.skip(1);
                c = self.rest.chars().next().unwrap_or(c);
            } else if c == '`' {
                return Err(format!("can't find end of code at {began}"));
            }
            self.skip(c.len_utf8());
            self.out.push(c);
        }
        self.skip(fence.len());
        self.is_new_line = false;
        Ok(())
    }

    /// Reads the URL of a link.
    fn address(&mut self) -> Result<(), String> {
        if self.open.pop() != Some(Mark::Link) {
            return Err(format!("can't find end of an entity at {}", self.at));
        }
        if !self.rest.starts_with("](") {
            return Err(format!("a link leads nowhere at {}", self.at));
        }
        self.skip(2);
        while !self.rest.starts_with(')') {
            let Some(c) = self.rest.chars().next() else {
                return Err(format!("can't find end of a link's address at {}", self.at));
            };
            self.skip(c.len_utf8());
            if c == '\\' {
                self.skip(self.rest.chars().next().map_or(0, char::len_utf8));
            }
        }
        self.skip(1);
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.at += bytes;
    }
}

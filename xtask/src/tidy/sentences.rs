//! Finds sentences that do not name their subject.

use super::Finding;
use super::mask::Masked;
use crate::repo::TextFile;

/// Words that stand for a subject without naming it. No sentence begins with one.
const NAMELESS: [&str; 11] = [
    "what",
    "whatever",
    "who",
    "whoever",
    "whom",
    "whose",
    "somebody",
    "someone",
    "nobody",
    "anybody",
    "everybody",
];

/// Words with which a doc comment must not begin either, because it then paraphrases the name below it. In prose they
/// begin conditions.
const NOT_IN_FRONT: [&str; 5] = ["how", "whether", "where", "which", "why"];

/// Returns true if a doc comment that begins with this word has no subject.
pub(crate) fn lacks_subject(first_word: &str) -> bool {
    let word = first_word.to_lowercase();
    NAMELESS.contains(&&*word) || NOT_IN_FRONT.contains(&&*word)
}

/// Finds sentences without a subject in doc comments and Markdown.
pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let openings = if file.has_extension("rs") {
        in_doc_comments(&file.text)
    } else if file.has_extension("md") {
        in_markdown(&file.text)
    } else {
        Vec::new()
    };
    let what = |word| format!("a sentence begins with `{word}`: name its subject");
    openings.iter().map(|it| Finding::in_line(&file.path, it.line, what(&it.word))).collect()
}

/// The beginning of a sentence without a subject.
#[derive(Debug, PartialEq, Eq)]
struct Opening {
    line: usize,
    word: String,
}

/// Finds such sentences in paragraphs, headings, list items and table cells. Code is skipped.
fn in_markdown(text: &str) -> Vec<Opening> {
    let mut found = Vec::new();
    let mut reader = Reader { is_at_beginning: true };
    let mut is_code = false;
    for (line, text) in text.lines().enumerate() {
        let text = text.trim();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        reader.is_at_beginning |= is_fence || begins_block(text);
        if is_code || is_fence {
            continue;
        }
        let text = without_code(text);
        for cell in text.split('|') {
            reader.is_at_beginning |= text.starts_with('|');
            found.extend(reader.read(cell).into_iter().map(|word| Opening { line, word }));
        }
    }
    found
}

fn begins_block(line: &str) -> bool {
    line.is_empty() || ["#", ">", "|", "- ", "* "].iter().any(|mark| line.starts_with(mark))
}

/// Returns a line with a placeholder for each piece of code in it.
fn without_code(line: &str) -> String {
    let pieces = line.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { "x" }).collect()
}

/// Finds such sentences in doc comments.
fn in_doc_comments(text: &str) -> Vec<Opening> {
    let comments = Masked::new(text).comments;
    let mut found = Vec::new();
    let mut block = Block::default();
    for (line, text) in comments.lines().enumerate() {
        match doc_line(text) {
            Some(doc) => block.add(line, doc),
            None => found.extend(std::mem::take(&mut block).openings()),
        }
    }
    found.extend(block.openings());
    found
}

fn doc_line(line: &str) -> Option<&str> {
    let line = line.trim();
    let outer = line.strip_prefix("///").filter(|rest| !rest.starts_with('/'));
    outer.or_else(|| line.strip_prefix("//!"))
}

/// The lines of one doc comment.
#[derive(Default)]
struct Block {
    first_line: usize,
    text: String,
}

impl Block {
    fn add(&mut self, line: usize, doc: &str) {
        if self.text.is_empty() {
            self.first_line = line;
        }
        self.text.push_str(doc);
        self.text.push('\n');
    }

    fn openings(self) -> Vec<Opening> {
        let word = first_letters(&self.text);
        let mut found = Vec::new();
        if NOT_IN_FRONT.contains(&&*word) {
            found.push(Opening { line: self.first_line, word });
        }
        let further = in_markdown(&self.text).into_iter();
        found.extend(further.map(|it| Opening { line: it.line + self.first_line, ..it }));
        found
    }
}

/// Reads prose word by word, across lines.
struct Reader {
    is_at_beginning: bool,
}

impl Reader {
    /// Returns the words of this piece that begin a sentence and are not a subject.
    fn read(&mut self, piece: &str) -> Vec<String> {
        let mut found = Vec::new();
        for word in piece.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)) {
            let letters = first_letters(word);
            let is_first = std::mem::replace(&mut self.is_at_beginning, ends_sentence(word));
            if is_first && NAMELESS.contains(&&*letters) {
                found.push(letters);
            }
        }
        found
    }
}

/// Returns the first letters of a text in lower case, without marks such as `*` and `"`.
fn first_letters(text: &str) -> String {
    let letters = text.trim_start_matches(|c: char| !c.is_alphanumeric()).chars();
    letters.take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

fn ends_sentence(word: &str) -> bool {
    word.trim_end_matches(['*', '_', '"', '\'', ')', ']']).ends_with(['.', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(openings: &[Opening]) -> Vec<&str> {
        openings.iter().map(|it| it.word.as_str()).collect()
    }

    #[test]
    fn a_sentence_names_its_subject() {
        let cases: [(&str, &str, &[&str]); 14] = [
            ("a subject", "The gate refuses it. It says why.", &[]),
            ("first in a paragraph", "Who writes is heard.", &["who"]),
            ("after a sentence", "It waits. Nobody calls.", &["nobody"]),
            ("on the next line", "It waits.\nWhatever comes is read.", &["whatever"]),
            ("a line that goes on", "It says\nwho writes and\nwhat comes.", &[]),
            ("a heading", "# What it is", &["what"]),
            ("a list item", "- what it is\n- Someone", &["what", "someone"]),
            ("a numbered item", "1. Whose it is", &["whose"]),
            ("table cells", "| a | Who waits | what comes |", &["who", "what"]),
            ("in bold", "**Whoever** comes waits.", &["whoever"]),
            ("after a quote", "It said \"no.\" Anybody may.", &["anybody"]),
            ("code", "`who` is a column. `What` too.", &[]),
            ("a block of code", "```sql\nwho writes\n```\nThe end.", &[]),
            ("a condition", "Where it waits, whether or not. How it ends is open.", &[]),
        ];
        for (name, text, want) in cases {
            assert_eq!(words(&in_markdown(text)), want, "{name}");
        }
    }

    #[test]
    fn a_doc_comment_begins_with_its_subject() {
        let cases: [(&str, &str, &[&str]); 9] = [
            ("a subject", "/// The gate.\nfn a() {}", &[]),
            ("a question", "/// How long it waits.\nconst A: u8 = 1;", &["how"]),
            ("no subject", "/// Who waits.\nfn a() {}", &["who"]),
            ("a module", "//! What it does.", &["what"]),
            (
                "each comment anew",
                "/// Which one\na: u8,\n/// Whether\nb: u8,",
                &["which", "whether"],
            ),
            ("a later sentence", "/// It waits. Who\n/// comes is read.", &["who"]),
            ("a condition later", "/// It waits. Where it can, it calls.", &[]),
            ("a plain comment", "// Who waits.\nfn a() {}", &[]),
            ("a string", "let a = \"/// Who waits.\";", &[]),
        ];
        for (name, text, want) in cases {
            assert_eq!(words(&in_doc_comments(text)), want, "{name}");
        }
    }

    #[test]
    fn code_and_pages_are_held_to_it_and_other_files_are_not() {
        let found = |path: &str, text: &str| {
            let findings = check(&TextFile { path: path.to_owned(), text: text.to_owned() });
            findings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };

        let want = "docs/any.md:3: a sentence begins with `who`: name its subject";
        assert_eq!(found("docs/any.md", "Fine.\n\nWho comes waits."), [want]);
        let want = "crates/any/src/lib.rs:1: a sentence begins with `who`: name its subject";
        assert_eq!(found("crates/any/src/lib.rs", "/// Who comes waits."), [want]);
        assert_eq!(found("data/any.txt", "Who comes waits."), [""; 0]);
    }

    #[test]
    fn a_finding_in_a_doc_comment_names_its_line() {
        let openings = in_doc_comments("fn a() {}\n\n/// It waits.\n/// Nobody calls.\nfn b() {}");

        assert_eq!(openings, [Opening { line: 3, word: "nobody".to_owned() }]);
    }
}

//! Writes text and marks in a form that Telegram can parse.

/// Characters that must be escaped in a text.
const RESERVED: [char; 19] = [
    '_', '*', '[', ']', '(', ')', '~', '`', '>', '#', '+', '-', '=', '|', '{', '}', '.', '!', '\\',
];

/// Allowed schemes of a link. Telegram's own schemes could mention people by their ids.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Maximum characters of a language's name.
const LANGUAGE_CHARS_MAX: usize = 32;

/// A mark around a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextMark {
    Bold,
    Italic,
    Strike,
}

impl TextMark {
    const fn sign(self) -> char {
        match self {
            Self::Bold => '*',
            Self::Italic => '_',
            Self::Strike => '~',
        }
    }
}

/// The output so far, and the open elements.
#[derive(Debug, Default)]
pub(super) struct MarkdownWriter {
    out: String,
    /// Line ends that are due before the next output.
    line_ends: usize,
    /// Nesting depth of each mark: inside itself a mark has no effect.
    open: [usize; 3],
    /// The URL and the start of the text of each open link.
    links: Vec<Option<(String, usize)>>,
    quotes: usize,
    /// The number of the next item of each open list, if the list is numbered.
    lists: Vec<Option<u64>>,
    in_block: bool,
}

impl MarkdownWriter {
    pub(super) fn text(&mut self, text: &str) {
        if self.in_block {
            self.raw_code(text);
            return;
        }
        let mut lines = text.split('\n');
        self.words(lines.next().unwrap_or_default());
        for line in lines {
            self.line_end();
            self.words(line);
        }
    }

    fn words(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        self.begin();
        for c in words.chars() {
            if RESERVED.contains(&c) {
                self.out.push('\\');
            }
            self.out.push(c);
        }
    }

    pub(super) fn code(&mut self, code: &str) {
        self.begin();
        self.out.push('`');
        self.raw_code(code);
        self.out.push('`');
    }

    fn raw_code(&mut self, code: &str) {
        for c in code.chars() {
            if matches!(c, '`' | '\\') {
                self.out.push('\\');
            }
            self.out.push(c);
        }
    }

    /// Begins a new line before the next output.
    pub(super) fn line_end(&mut self) {
        self.line_ends = self.line_ends.max(1);
    }

    /// Begins a new block before the next output.
    pub(super) fn blocks_end(&mut self) {
        self.line_ends = 2;
    }

    /// Writes the line ends that are due, and the beginning of the line.
    fn begin(&mut self) {
        let due = std::mem::take(&mut self.line_ends);
        if !self.out.is_empty() && due == 0 {
            return;
        }
        if !self.out.is_empty() {
            self.out.extend(std::iter::repeat_n('\n', due));
        }
        self.out.extend(std::iter::repeat_n("\\> ", self.quotes));
        self.out.extend(std::iter::repeat_n("  ", self.lists.len().saturating_sub(1)));
    }

    pub(super) fn open(&mut self, mark: TextMark) {
        self.begin();
        self.open[mark as usize] += 1;
        if self.open[mark as usize] == 1 {
            self.sign(mark);
        }
    }

    pub(super) fn close(&mut self, mark: TextMark) {
        let depth = &mut self.open[mark as usize];
        *depth = depth.saturating_sub(1);
        if *depth == 0 {
            self.sign(mark);
        }
    }

    /// Writes a mark. Two underscores would be another mark, so an empty bold separates them.
    fn sign(&mut self, mark: TextMark) {
        if mark == TextMark::Italic && self.ends_in_sign('_') {
            self.out.push_str("**");
        }
        self.out.push(mark.sign());
    }

    fn ends_in_sign(&self, sign: char) -> bool {
        let before = self.out.strip_suffix(sign);
        before.is_some_and(|before| {
            let escapes = before.len() - before.trim_end_matches('\\').len();
            escapes % 2 == 0
        })
    }

    /// Opens a link. A link inside a link, such as a picture's, is written as its text.
    pub(super) fn open_link(&mut self, url: &str) {
        let is_link = is_safe(url) && self.links.iter().all(Option::is_none);
        if is_link {
            self.begin();
            self.out.push('[');
        }
        self.links.push(is_link.then(|| (url.to_owned(), self.out.len())));
    }

    pub(super) fn close_link(&mut self) {
        let Some((url, began)) = self.links.pop().flatten() else { return };
        if self.out.len() == began {
            self.words(&url);
        }
        self.out.push_str("](");
        for c in url.chars() {
            if matches!(c, ')' | '\\') {
                self.out.push('\\');
            }
            self.out.push(c);
        }
        self.out.push(')');
    }

    pub(super) fn open_block(&mut self, language: &str) {
        self.begin();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "+-#_".contains(*c);
        let language = language.chars().take_while(is_plain).take(LANGUAGE_CHARS_MAX);
        self.out.push_str("```");
        self.out.extend(language);
        self.out.push('\n');
        self.in_block = true;
    }

    pub(super) fn close_block(&mut self) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str("```");
        self.in_block = false;
        self.blocks_end();
    }

    pub(super) fn open_quote(&mut self) {
        if !self.out.is_empty() {
            self.line_ends = self.line_ends.max(1);
        }
        self.quotes += 1;
    }

    pub(super) fn close_quote(&mut self) {
        self.quotes = self.quotes.saturating_sub(1);
        self.blocks_end();
    }

    pub(super) fn open_list(&mut self, first: Option<u64>) {
        if !self.out.is_empty() {
            self.line_end();
        }
        self.lists.push(first);
    }

    pub(super) fn close_list(&mut self) {
        self.lists.pop();
        if self.lists.is_empty() {
            self.blocks_end();
        }
    }

    pub(super) fn open_item(&mut self) {
        if !self.out.is_empty() {
            self.line_end();
        }
        self.begin();
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&number.to_string());
                self.out.push_str("\\. ");
                *number = number.saturating_add(1);
            }
            Some(None) | None => self.out.push_str("• "),
        }
    }

    pub(super) fn close_item(&mut self) {
        self.line_ends = self.line_ends.max(1);
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

fn is_safe(url: &str) -> bool {
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().any(|scheme| begins(scheme))
        && !url.chars().any(|c| c.is_control() || c.is_whitespace())
}

//! Fences: where code blocks begin and end.

use std::ops::Range;

use super::Length;

/// The fewest signs a fence has.
const SIGNS_MIN: usize = 3;

/// A code block between fences. All ranges are of bytes.
#[derive(Clone, Debug)]
pub(super) struct Fence<'t> {
    /// Its first line, without the line's end.
    pub(super) opening: Range<usize>,
    /// What is between its fences.
    pub(super) code: Range<usize>,
    /// Its last line. `None`: the text ends before it does.
    pub(super) closing: Option<Range<usize>>,
    /// The signs that close it.
    pub(super) marker: &'t str,
    /// The line that opens it again.
    pub(super) opens_again: String,
}

/// What stands in a text's lines.
#[derive(Debug, Default)]
pub(super) struct Lines<'t> {
    pub(super) fences: Vec<Fence<'t>>,
    /// Lines that would look like a fence if they were cut.
    pub(super) lookalikes: Vec<Range<usize>>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str, length: Length) -> Self {
        let mut found = Self::default();
        let mut open: Option<Fence<'t>> = None;
        for (line, next) in lines(text) {
            let written = &text[line.clone()];
            open = match open {
                Some(fence) if closes(written, fence.marker) => {
                    found.fences.push(fence.closed(line));
                    None
                }
                Some(fence) => Some(fence),
                None => found.begun(written, (line, next), length),
            };
        }
        found.fences.extend(open.map(|fence| fence.unclosed(text.len())));
        found.fences.retain(|fence| fits(&text[fence.opening.clone()], fence.marker, length));
        found
    }

    fn begun(
        &mut self,
        written: &'t str,
        (line, next): (Range<usize>, usize),
        length: Length,
    ) -> Option<Fence<'t>> {
        let marker = signs(written.trim_start())?;
        let info = &written.trim_start()[marker.len()..];
        // Inline code may begin a line, too.
        if marker.starts_with('`') && info.contains('`') {
            self.lookalikes.push(line);
            return None;
        }
        let indent = &written[..written.len() - written.trim_start().len()];
        let is_short = length.of(written) <= length.max / 4;
        let opens_again =
            if is_short { written.trim_end().to_owned() } else { [indent, marker].concat() };
        Some(Fence { opening: line, code: next..next, closing: None, marker, opens_again })
    }
}

impl Fence<'_> {
    fn closed(self, line: Range<usize>) -> Self {
        Self { code: self.code.start..line.start, closing: Some(line), ..self }
    }

    fn unclosed(self, end: usize) -> Self {
        Self { code: self.code.start..end, ..self }
    }
}

/// The signs a line begins with, if they can be a fence.
fn signs(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|sign| ['`', '~'].contains(sign))?;
    let marker = &line[..line.len() - line.trim_start_matches(sign).len()];
    (marker.len() >= SIGNS_MIN).then_some(marker)
}

/// Whether a text, put at the start of a line, might be read as a fence.
pub(super) fn looks_like_one(rest: &str) -> bool {
    let line = rest.trim_start_matches([' ', '\t']);
    line.starts_with("```") || line.starts_with("~~~")
}

fn closes(line: &str, marker: &str) -> bool {
    let line = line.trim();
    line.len() >= marker.len() && line.bytes().all(|b| marker.as_bytes().first() == Some(&b))
}

/// A fence is repeated in every part, so it must leave room for the code.
fn fits(opening: &str, marker: &str, length: Length) -> bool {
    length.of(opening) <= length.max / 2 && marker.len() <= length.max / 8
}

/// The ranges of the lines without their ends, and where the next one begins.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start..start + line.trim_end_matches(['\r', '\n']).len(), at)
    })
}

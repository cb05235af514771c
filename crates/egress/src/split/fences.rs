//! Finds the beginnings and ends of code blocks.

use std::ops::Range;

use super::Length;
use super::reader::{Reader, Signs, looks_like_a_fence};

/// A code block between fences.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub(super) opening: Rail,
    /// `None`: the text ends before the block does.
    pub(super) closing: Option<Rail>,
    pub(super) signs: Signs,
    /// The line that opens the block again.
    pub(super) opens_again: String,
}

/// A line that opens or closes a block. All ranges are in bytes.
#[derive(Clone, Debug)]
pub(super) struct Rail {
    /// The whole line, without its end.
    pub(super) line: Range<usize>,
    pub(super) signs: Range<usize>,
    /// The start of the next line.
    pub(super) next: usize,
}

/// The fences and similar lines of a text.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) fences: Vec<Fence>,
    /// Lines that would look like a fence after a cut.
    pub(super) lookalikes: Vec<Range<usize>>,
}

impl Lines {
    pub(super) fn of(text: &str, length: Length) -> Self {
        let mut found = Self::default();
        let mut reader = Reader::within(None);
        for (line, next) in lines(text) {
            let written = &text[line.clone()];
            let before = reader.open();
            reader.read(written);
            match (before, reader.open()) {
                (None, Some(signs)) => {
                    let rail = Rail::of(written, line, next);
                    found.fences.push(Fence::opened(rail, signs, written, length));
                }
                (Some(_), None) => found.close(Rail::of(written, line, next)),
                (None, None) if looks_like_a_fence(written) => found.lookalikes.push(line),
                (None, None) | (Some(_), Some(_)) => {}
            }
            reader.read("\n");
        }
        found
    }

    fn close(&mut self, rail: Rail) {
        if let Some(fence) = self.fences.last_mut() {
            fence.closing = Some(rail);
        }
    }
}

impl Fence {
    fn opened(opening: Rail, signs: Signs, written: &str, length: Length) -> Self {
        let is_short = length.of(written) <= length.max / 4;
        let opens_again = if is_short { written.trim_end().to_owned() } else { signs.line() };
        Self { opening, closing: None, signs, opens_again }
    }
}

impl Rail {
    fn of(written: &str, line: Range<usize>, next: usize) -> Self {
        let trimmed = written.trim_start();
        let behind = trimmed.trim_start_matches(|c| trimmed.starts_with(c));
        let signs = line.end - trimmed.len()..line.end - behind.len();
        Self { line, signs, next }
    }
}

/// Returns the range of each line without its end, and the start of the next one.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, usize)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start..start + line.trim_end_matches(['\r', '\n']).len(), at)
    })
}

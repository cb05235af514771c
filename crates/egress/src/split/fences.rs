//! Finds the beginnings and ends of code blocks.

use std::ops::Range;

use super::LengthLimit;
use super::reader::{FenceReader, FenceSigns, looks_like_a_fence};

/// A code block between fences.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    pub(super) opening: FenceLine,
    /// `None`: the text ends before the block does.
    pub(super) closing: Option<FenceLine>,
    pub(super) signs: FenceSigns,
    /// The line that opens the block again.
    pub(super) opens_again: String,
}

/// A line that opens or closes a block. All ranges are in bytes.
#[derive(Clone, Debug)]
pub(super) struct FenceLine {
    /// The whole line, without its end.
    pub(super) line: Range<usize>,
    pub(super) signs: Range<usize>,
    /// The start of the next line.
    pub(super) next: usize,
}

/// The fences and similar lines of a text.
#[derive(Debug, Default)]
pub(super) struct FenceScan {
    pub(super) fences: Vec<Fence>,
    /// Lines that would look like a fence after a cut.
    pub(super) lookalikes: Vec<Range<usize>>,
}

impl FenceScan {
    pub(super) fn scan(text: &str, length: LengthLimit) -> Self {
        let mut found = Self::default();
        let mut reader = FenceReader::starting_in(None);
        for (line, next) in lines(text) {
            let written = &text[line.clone()];
            let before = reader.open_block();
            reader.read(written);
            match (before, reader.open_block()) {
                (None, Some(signs)) => {
                    let rail = FenceLine::parse(written, line, next);
                    found.fences.push(Fence::open(rail, signs, written, length));
                }
                (Some(_), None) => found.close(FenceLine::parse(written, line, next)),
                (None, None) if looks_like_a_fence(written) => found.lookalikes.push(line),
                (None, None) | (Some(_), Some(_)) => {}
            }
            reader.read("\n");
        }
        found
    }

    fn close(&mut self, rail: FenceLine) {
        if let Some(fence) = self.fences.last_mut() {
            fence.closing = Some(rail);
        }
    }
}

impl Fence {
    fn open(opening: FenceLine, signs: FenceSigns, written: &str, length: LengthLimit) -> Self {
        let is_short = length.measure(written) <= length.max / 4;
        let opens_again =
            if is_short { written.trim_end().to_owned() } else { signs.closing_line() };
        Self { opening, closing: None, signs, opens_again }
    }
}

impl FenceLine {
    fn parse(written: &str, line: Range<usize>, next: usize) -> Self {
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

//! The length of a text in its platform's unit.

use std::ops::Range;

use nightdesk_port::LengthUnit;

/// The length limit of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LengthLimit {
    pub(crate) max: usize,
    pub(crate) unit: LengthUnit,
}

impl LengthLimit {
    pub(crate) fn measure(self, text: &str) -> usize {
        text.chars().map(|c| self.measure_char(c)).sum()
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        // Every unit has at least one byte, so most texts need not be counted.
        text.len() <= self.max || self.measure(text) <= self.max
    }

    const fn measure_char(self, c: char) -> usize {
        match self.unit {
            LengthUnit::Chars => 1,
            LengthUnit::Utf16 => c.len_utf16(),
        }
    }
}

/// The length of every range of a text, computed once.
#[derive(Debug)]
pub(super) struct LengthIndex {
    /// The length of the text before each byte.
    before: Vec<usize>,
}

impl LengthIndex {
    pub(super) fn new(text: &str, length: LengthLimit) -> Self {
        let mut before = vec![0];
        let mut sum = 0;
        for c in text.chars() {
            sum += length.measure_char(c);
            before.extend(std::iter::repeat_n(sum, c.len_utf8()));
        }
        Self { before }
    }

    pub(super) fn length_of_range(&self, range: &Range<usize>) -> usize {
        let before = |at: usize| self.before[at.min(self.before.len() - 1)];
        before(range.end) - before(range.start)
    }
}

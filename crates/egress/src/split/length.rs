//! The length of a text in its platform's unit.

use std::ops::Range;

use nightdesk_port::LengthUnit;

/// The length limit of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) max: usize,
    pub(crate) unit: LengthUnit,
}

impl Length {
    pub(crate) fn of(self, text: &str) -> usize {
        text.chars().map(|c| self.of_char(c)).sum()
    }

    pub(crate) fn fits(self, text: &str) -> bool {
        // Every unit has at least one byte, so most texts need not be counted.
        text.len() <= self.max || self.of(text) <= self.max
    }

    const fn of_char(self, c: char) -> usize {
        match self.unit {
            LengthUnit::Chars => 1,
            LengthUnit::Utf16 => c.len_utf16(),
        }
    }
}

/// The length of every range of a text, computed once.
#[derive(Debug)]
pub(super) struct Ruler {
    /// The length of the text before each byte.
    before: Vec<usize>,
}

impl Ruler {
    pub(super) fn of(text: &str, length: Length) -> Self {
        let mut before = vec![0];
        let mut sum = 0;
        for c in text.chars() {
            sum += length.of_char(c);
            before.extend(std::iter::repeat_n(sum, c.len_utf8()));
        }
        Self { before }
    }

    pub(super) fn between(&self, range: &Range<usize>) -> usize {
        let before = |at: usize| self.before[at.min(self.before.len() - 1)];
        before(range.end) - before(range.start)
    }
}

//! Determines whether a position is in a code block, as a Markdown renderer sees it.

/// Fewest signs of a fence.
const SIGNS_MIN: usize = 3;

/// The signs of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FenceSigns {
    sign: char,
    pub(super) count: usize,
}

impl FenceSigns {
    /// Returns the line that closes a block which these signs opened.
    pub(super) fn closing_line(self) -> String {
        std::iter::repeat_n(self.sign, self.count).collect()
    }
}

/// The characters of a line up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineScan {
    /// Empty, or white space.
    Blank,
    /// Signs without following characters.
    Signs(FenceSigns),
    /// Signs and white space: a fence that opens or closes.
    Spaced(FenceSigns),
    /// Signs and words: a fence that opens, and closes nothing.
    Worded(FenceSigns),
    Other,
}

impl LineScan {
    fn push(self, c: char) -> Self {
        match self {
            Self::Blank if c.is_whitespace() => Self::Blank,
            Self::Blank if ['`', '~'].contains(&c) => Self::Signs(FenceSigns { sign: c, count: 1 }),
            Self::Signs(FenceSigns { sign, count }) if c == sign => {
                Self::Signs(FenceSigns { sign, count: count + 1 })
            }
            Self::Signs(signs) | Self::Spaced(signs) if c.is_whitespace() => Self::Spaced(signs),
            // Backticks after backticks make both inline code.
            Self::Signs(signs) | Self::Spaced(signs) | Self::Worded(signs)
                if c != '`' || signs.sign != '`' =>
            {
                Self::Worded(signs)
            }
            Self::Blank | Self::Signs(_) | Self::Spaced(_) | Self::Worded(_) | Self::Other => {
                Self::Other
            }
        }
    }

    fn opens(self) -> Option<FenceSigns> {
        match self {
            Self::Signs(signs) | Self::Spaced(signs) | Self::Worded(signs) => {
                Some(signs).filter(|signs| signs.count >= SIGNS_MIN)
            }
            Self::Blank | Self::Other => None,
        }
    }

    fn closes(self, block: FenceSigns) -> bool {
        match self {
            Self::Signs(signs) | Self::Spaced(signs) => {
                signs.sign == block.sign && signs.count >= block.count
            }
            Self::Blank | Self::Worded(_) | Self::Other => false,
        }
    }
}

/// Parses a text from its start, and knows at any position the block that is open there.
#[derive(Clone, Debug)]
pub(super) struct FenceReader {
    /// The block that was open at the start of the line.
    block: Option<FenceSigns>,
    line: LineScan,
}

impl FenceReader {
    /// Starts at the beginning of a line, in a block or in none.
    pub(super) const fn starting_in(block: Option<FenceSigns>) -> Self {
        Self { block, line: LineScan::Blank }
    }

    pub(super) fn read(&mut self, text: &str) {
        for c in text.chars() {
            *self = match c {
                '\n' => Self::starting_in(self.open_block()),
                _ => Self { line: self.line.push(c), ..*self },
            };
        }
    }

    /// Returns the block that is open if the text ends here.
    pub(super) fn open_block(&self) -> Option<FenceSigns> {
        match self.block {
            Some(block) => Some(block).filter(|block| !self.line.closes(*block)),
            None => self.line.opens(),
        }
    }

    /// Returns the length of the line that closes the open block, including the line break before it.
    pub(super) fn closing_length(&self) -> usize {
        self.open_block().map_or(0, |signs| signs.count + 1)
    }
}

/// Returns true if a text at the start of a line might be parsed as a fence.
pub(super) fn looks_like_a_fence(rest: &str) -> bool {
    let line = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    line.starts_with("```") || line.starts_with("~~~")
}

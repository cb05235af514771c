//! Splits a text that is longer than one message.
//!
//! # Promise
//!
//! Every part fits, none is empty, and together they contain the whole text. Only white space at a cut is removed, and
//! only fence lines are added, which close a code block at the end of a part and open it again in the next. The same
//! text always gives the same parts.
//!
//! A cut is made between paragraphs, lines, sentences or words, in this order of preference, and never inside a link,
//! inline code or a character that is made of several. Only an element that is longer than a whole message is cut
//! inside; in code, than the room that the fence lines leave. Of two links that overlap and together are longer than a
//! message, only the first stays whole.
//!
//! Every part renders on its own: no block is left open in it. A fence is recognised at the start of a line with any
//! indentation. A fence whose signs fill more than an eighth of a message is not opened again in the next part. A first
//! line of more than half a message may be cut; the rest of it becomes code. Stray signs directly after a link that
//! fills a message may come to the start of a part: then they are a fence there, which is closed at the end of the
//! part.
//!
//! Begin with [`split`]; `marks` finds the elements that must stay whole, and `window` chooses a cut.

use nightdesk_port::LengthUnit;

mod length;
mod reader;
mod elements;
mod fences;
mod links;
mod window;
#[cfg(test)]
mod tests;

use elements::TextElements;
use fences::Fence;
pub(crate) use length::LengthLimit;
use reader::FenceReader;
use window::{Cut, CutWindow};

/// No platform has a shorter limit; a smaller maximum is a bug in its adapter.
pub(crate) const MESSAGE_LENGTH_MIN: usize = 64;

/// Splits the text into messages of at most `max` units. A text that fits is not changed; a text that does not fit and
/// is only white space gives no message.
pub fn split(text: &str, max: usize, unit: LengthUnit) -> Vec<String> {
    let length = LengthLimit { max: max.max(MESSAGE_LENGTH_MIN), unit };
    if length.fits(text) {
        return vec![text.to_owned()];
    }
    let marks = TextElements::parse(text, length);
    let pieces = Pieces { text, length, marks: &marks, at: 0 };
    pieces.map(|piece| piece.render(text)).collect()
}

/// The range of the text in one part.
#[derive(Clone, Debug)]
struct Piece<'t> {
    start: usize,
    end: usize,
    /// The code block that is opened again before it.
    opens: Option<&'t Fence>,
}

impl Piece<'_> {
    fn render(&self, text: &str) -> String {
        let mut part = String::new();
        if let Some(fence) = self.opens {
            part += &fence.opens_again;
            part.push('\n');
        }
        part += &text[self.start..self.end];
        // Close the block that is open in this part, also where the whole text would be parsed differently because
        // other signs are at the start of a line.
        let mut reader = FenceReader::starting_in(None);
        reader.read(&part);
        if let Some(signs) = reader.open_block() {
            part.push('\n');
            part += &signs.closing_line();
        }
        part
    }
}

/// Iterates over the text from cut to cut.
struct Pieces<'t> {
    text: &'t str,
    length: LengthLimit,
    marks: &'t TextElements,
    at: usize,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let (text, marks) = (self.text, self.marks);
        loop {
            let start = self.at;
            let opens = marks.fence_at(start);
            // An open block may end in white space, which is code then.
            if start == text.len() || (opens.is_none() && text[start..].trim_start().is_empty()) {
                return None;
            }
            let Cut { end, next } = CutWindow::new(text, self.length, marks, start).cut();
            self.at = next;
            if start < end {
                return Some(Piece { start, end, opens });
            }
        }
    }
}

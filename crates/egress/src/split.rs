//! Split: a text that is longer than one message becomes several.
//!
//! # Promise
//!
//! Every part fits, none is empty, and together they say the whole text: what is taken out is
//! white space at a cut, what is put in are the fence lines that close a code block at the end
//! of a part and open it again in the next. The same text always gives the same parts.
//!
//! A cut is made between paragraphs, lines, sentences or words, in that order of liking, and
//! never inside a link, inline code or a character that is made of several. Only what is longer
//! than a whole message is cut where it must be; in code, than what the fence lines leave of it.
//! Of two links that overlap and together are longer than a message, the first is kept whole.
//!
//! Every part shows by itself: no block is left open in it. Fences are seen at the start of a
//! line, however far it is indented. One whose signs fill more than an eighth of a message is
//! not opened again in the next part. A first line of more than half a message may be cut; what
//! is left of it becomes code. Stray signs right behind a link that fills a message may come to
//! stand at the start of a part: then they are a fence there, and closed at the end of the part.
//!
//! Begin with [`split`]; what may not be torn is found in `marks`, a cut is chosen in `window`.

use nightdesk_port::LengthUnit;

mod length;
mod reader;
mod marks;
mod fences;
mod links;
mod window;
#[cfg(test)]
mod tests;

use fences::Fence;
pub(crate) use length::Length;
use marks::Marks;
use reader::Reader;
use window::{Cut, Window};

/// No message is this short on any platform; a smaller maximum is a mistake in its adapter.
pub(crate) const MESSAGE_LENGTH_MIN: usize = 64;

/// The text as messages of at most so many units. A text that fits is left as it is; one that
/// does not fit and is nothing but white space is no message at all.
pub fn split(text: &str, max: usize, unit: LengthUnit) -> Vec<String> {
    let length = Length { max: max.max(MESSAGE_LENGTH_MIN), unit };
    if length.fits(text) {
        return vec![text.to_owned()];
    }
    let marks = Marks::of(text, length);
    let pieces = Pieces { text, length, marks: &marks, at: 0 };
    pieces.map(|piece| piece.written(text)).collect()
}

/// What of the text one part holds.
#[derive(Clone, Debug)]
struct Piece<'t> {
    start: usize,
    end: usize,
    /// The code block that is opened again before it.
    opens: Option<&'t Fence>,
}

impl Piece<'_> {
    fn written(&self, text: &str) -> String {
        let mut part = String::new();
        if let Some(fence) = self.opens {
            part += &fence.opens_again;
            part.push('\n');
        }
        part += &text[self.start..self.end];
        // What must be closed is what is open in this part, even where the whole text, in which
        // other signs are at the start of a line, would be read otherwise.
        let mut reader = Reader::within(None);
        reader.read(&part);
        if let Some(signs) = reader.open() {
            part.push('\n');
            part += &signs.line();
        }
        part
    }
}

/// Goes through the text from cut to cut.
struct Pieces<'t> {
    text: &'t str,
    length: Length,
    marks: &'t Marks,
    at: usize,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let (text, marks) = (self.text, self.marks);
        loop {
            let start = self.at;
            let opens = marks.fence_at(start);
            // A block that is open may end in white space, which then is code.
            if start == text.len() || (opens.is_none() && text[start..].trim_start().is_empty()) {
                return None;
            }
            let Cut { end, next } = Window::new(text, self.length, marks, start).cut();
            self.at = next;
            if start < end {
                return Some(Piece { start, end, opens });
            }
        }
    }
}

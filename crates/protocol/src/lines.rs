//! Joins the parts of lines, within a limit.

use std::borrow::Cow;

use nightdesk_types::limits::FRAME_IN_BYTES_MAX;

use crate::frame::TooLong;

/// Joins lines that come in several messages, and splits messages that contain several lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// The beginning of a line without its end.
    partial_line: Vec<u8>,
}

impl Lines {
    /// Creates an empty buffer.
    pub const fn new() -> Self {
        Self { partial_line: Vec::new() }
    }

    /// Takes a message and returns the lines that it completes, without line ends and blank lines.
    ///
    /// # Errors
    ///
    /// A line is longer than [`FRAME_IN_BYTES_MAX`]. Then the begun line is lost, and the caller should close the
    /// socket.
    pub fn push<'m>(&mut self, message: &'m [u8]) -> Result<CompleteLines<'m>, TooLong> {
        let begun = std::mem::take(&mut self.partial_line);
        check(&begun, message)?;
        let Some(last_end) = message.iter().rposition(|byte| *byte == END) else {
            self.partial_line = join_pieces(begun, message);
            return Ok(CompleteLines { first: None, rest: &[] });
        };
        let (ended, rest) = message.split_at(last_end + 1);
        self.partial_line = rest.to_vec();
        if begun.is_empty() {
            return Ok(CompleteLines { first: None, rest: ended });
        }
        let first_end = message.iter().position(|byte| *byte == END).unwrap_or(last_end);
        let first = join_pieces(begun, &message[..first_end]);
        Ok(CompleteLines { first: Some(first), rest: &ended[first_end + 1..] })
    }
}

fn check(begun: &[u8], message: &[u8]) -> Result<(), TooLong> {
    // If the total is within the limit, every part is.
    if begun.len() + message.len() <= FRAME_IN_BYTES_MAX {
        return Ok(());
    }
    let mut pieces = message.split(|byte| *byte == END);
    let first = pieces.next().map_or(0, <[u8]>::len);
    let longest = pieces.map(<[u8]>::len).fold(begun.len() + first, usize::max);
    TooLong::check(longest, FRAME_IN_BYTES_MAX)
}

const END: u8 = b'\n';

fn join_pieces(mut begun: Vec<u8>, piece: &[u8]) -> Vec<u8> {
    begun.extend_from_slice(piece);
    begun
}

/// Complete lines. Most are borrowed from their message.
#[derive(Debug)]
pub struct CompleteLines<'m> {
    first: Option<Vec<u8>>,
    rest: &'m [u8],
}

impl<'m> Iterator for CompleteLines<'m> {
    type Item = Cow<'m, [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take().filter(|line| !line.trim_ascii().is_empty()) {
            return Some(Cow::Owned(first.trim_ascii().to_vec()));
        }
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|byte| *byte == END).unwrap_or(self.rest.len() - 1);
            let (line, rest) = self.rest.split_at(end + 1);
            self.rest = rest;
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Some(Cow::Borrowed(line));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;

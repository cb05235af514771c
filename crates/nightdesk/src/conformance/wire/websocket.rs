//! Frames of a WebSocket (RFC 6455), without compression.

use crate::conformance::limits::BODY_BYTES_MAX;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;

const FIN_BIT: u8 = 0x80;
const RESERVED_BITS: u8 = 0x70;
const OPCODE_BITS: u8 = 0x0f;
const MASK_BIT: u8 = 0x80;
const LENGTH_BITS: u8 = 0x7f;
const LENGTH_IN_2_BYTES: u8 = 126;
const LENGTH_IN_8_BYTES: u8 = 127;

/// The sender of a frame. Only a client masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::conformance) enum WsEnd {
    Client,
    Server,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::conformance) struct WsFrame {
    is_final: bool,
    opcode: u8,
    payload: Vec<u8>,
}

/// The reason that bytes are no frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::conformance) enum WsFrameError {
    /// A reserved bit is set, as in compressed messages.
    #[error("a frame is compressed, and the desk selected no compression")]
    Reserved,
    /// The message is too long.
    #[error("a message has over 16 MiB")]
    TooLong,
}

impl WsFrame {
    /// A text message in one frame.
    pub(in crate::conformance) fn text(line: &[u8]) -> Self {
        Self { is_final: true, opcode: TEXT, payload: line.to_vec() }
    }

    pub(in crate::conformance) const fn is_data(&self) -> bool {
        matches!(self.opcode, CONTINUATION | TEXT | BINARY)
    }

    /// Takes the first frame out of a buffer. `None`: the rest of it has not arrived.
    pub(in crate::conformance) fn take_from(
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Self>, WsFrameError> {
        let Some(head) = FrameHead::read(buffer)? else { return Ok(None) };
        let end = head.payload_at + head.payload_len;
        if buffer.len() < end {
            return Ok(None);
        }
        let mut payload = buffer[head.payload_at..end].to_vec();
        if let Some(mask) = head.mask {
            payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        }
        buffer.drain(..end);
        Ok(Some(Self { is_final: head.is_final, opcode: head.opcode, payload }))
    }

    /// Returns the bytes of the frame. The mask of a client's frame is zero, which changes nothing.
    pub(in crate::conformance) fn to_bytes(&self, from: WsEnd) -> Vec<u8> {
        let fin = if self.is_final { FIN_BIT } else { 0 };
        let mask = if from == WsEnd::Client { MASK_BIT } else { 0 };
        let mut bytes = vec![fin | self.opcode];
        let length = self.payload.len();
        if let Ok(short @ 0..LENGTH_IN_2_BYTES) = u8::try_from(length) {
            bytes.push(mask | short);
        } else if let Ok(middle) = u16::try_from(length) {
            bytes.push(mask | LENGTH_IN_2_BYTES);
            bytes.extend(middle.to_be_bytes());
        } else {
            bytes.push(mask | LENGTH_IN_8_BYTES);
            bytes.extend((length as u64).to_be_bytes());
        }
        if from == WsEnd::Client {
            bytes.extend([0; 4]);
        }
        bytes.extend(&self.payload);
        bytes
    }
}

/// The part of a frame before its payload.
struct FrameHead {
    is_final: bool,
    opcode: u8,
    mask: Option<[u8; 4]>,
    payload_at: usize,
    payload_len: usize,
}

impl FrameHead {
    fn read(buffer: &[u8]) -> Result<Option<Self>, WsFrameError> {
        let [first, second, ref rest @ ..] = *buffer else { return Ok(None) };
        if first & RESERVED_BITS != 0 {
            return Err(WsFrameError::Reserved);
        }
        let Some((length_bytes, length)) = read_length(second & LENGTH_BITS, rest) else {
            return Ok(None);
        };
        let payload_len = usize::try_from(length).unwrap_or(usize::MAX);
        if payload_len > BODY_BYTES_MAX {
            return Err(WsFrameError::TooLong);
        }
        let is_masked = second & MASK_BIT != 0;
        let mask = rest.get(length_bytes..).and_then(|rest| rest.first_chunk::<4>()).copied();
        if is_masked && mask.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            is_final: first & FIN_BIT != 0,
            opcode: first & OPCODE_BITS,
            mask: mask.filter(|_| is_masked),
            payload_at: 2 + length_bytes + if is_masked { 4 } else { 0 },
            payload_len,
        }))
    }
}

/// Reads the length of a payload, and returns the number of further bytes that it takes.
fn read_length(short: u8, rest: &[u8]) -> Option<(usize, u64)> {
    match short {
        LENGTH_IN_2_BYTES => {
            rest.first_chunk().map(|bytes| (2, u64::from(u16::from_be_bytes(*bytes))))
        }
        LENGTH_IN_8_BYTES => rest.first_chunk().map(|bytes| (8, u64::from_be_bytes(*bytes))),
        short => Some((0, u64::from(short))),
    }
}

/// Joins the data frames of one direction to lines, each with its newline.
#[derive(Debug, Default)]
pub(in crate::conformance) struct WsLines {
    text: Vec<u8>,
}

impl WsLines {
    /// Takes a data frame, and returns the lines that are complete.
    pub(in crate::conformance) fn take(
        &mut self,
        frame: &WsFrame,
    ) -> Result<Vec<Vec<u8>>, WsFrameError> {
        self.text.extend(&frame.payload);
        let mut lines = Vec::new();
        while let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
            lines.push(self.text.drain(..=end).collect());
        }
        if self.text.len() > BODY_BYTES_MAX { Err(WsFrameError::TooLong) } else { Ok(lines) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(payload: &str) -> WsFrame {
        WsFrame::text(payload.as_bytes())
    }

    #[test]
    fn a_frame_of_every_length_is_read_back() {
        for length in [0, 1, 125, 126, 127, 65_535, 65_536] {
            let frame = text(&"x".repeat(length));
            for end in [WsEnd::Client, WsEnd::Server] {
                let mut bytes = frame.to_bytes(end);
                bytes.push(0x81);
                assert_eq!(WsFrame::take_from(&mut bytes), Ok(Some(frame.clone())), "{length}");
                assert_eq!(bytes, [0x81], "the next frame stays");
            }
        }
    }

    #[test]
    fn a_masked_frame_of_the_standard_is_read() {
        // The example of section 5.7.
        let mut bytes = vec![0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];

        assert_eq!(WsFrame::take_from(&mut bytes), Ok(Some(text("Hello"))));
    }

    #[test]
    fn an_incomplete_frame_waits() {
        for length in [3, 126, 65_536] {
            let bytes = text(&"x".repeat(length)).to_bytes(WsEnd::Client);
            for cut in [0, 1, 2, 5, bytes.len() - 1] {
                let mut some = bytes[..cut].to_vec();
                assert_eq!(WsFrame::take_from(&mut some), Ok(None), "{cut} of {length}");
                assert_eq!(some.len(), cut);
            }
        }
    }

    #[test]
    fn compressed_and_endless_messages_are_refused() {
        let endless = [[0x81, 127].as_slice(), &u64::MAX.to_be_bytes()].concat();
        assert_eq!(WsFrame::take_from(&mut vec![0xc1, 0]), Err(WsFrameError::Reserved));
        assert_eq!(WsFrame::take_from(&mut endless.clone()), Err(WsFrameError::TooLong));
    }

    #[test]
    fn lines_may_share_a_message_or_be_split() {
        let mut lines = WsLines::default();

        assert_eq!(lines.take(&text("a\nb\nc")), Ok(vec![b"a\n".to_vec(), b"b\n".to_vec()]));
        assert_eq!(lines.take(&text("d\n")), Ok(vec![b"cd\n".to_vec()]));
    }
}

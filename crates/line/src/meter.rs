//! Counts the fragments of a message, which the WebSocket library joins unseen.
//!
//! A client that sends a message in endless empty fragments never exceeds the message limit and would occupy the reader
//! for ever. So this module also parses the frame heads.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use nightdesk_types::limits::FRAGMENTS_MAX;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection that counts its incoming fragments.
#[derive(Debug)]
pub(crate) struct MeteredStream<S> {
    inner: S,
    frames: FrameMeter,
}

impl<S> MeteredStream<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, frames: FrameMeter::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let within = self.frames.count_bytes(&buffer.filled()[before..]);
        let too_many = || io::Error::new(io::ErrorKind::InvalidData, "too many fragments");
        Poll::Ready(within.then_some(()).ok_or_else(too_many))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// Longest frame head: two bytes, eight of length, four of mask.
const HEAD_BYTES_MAX: usize = 14;

/// The position in the stream of frames.
#[derive(Debug, Default)]
struct FrameMeter {
    head: [u8; HEAD_BYTES_MAX],
    head_bytes: usize,
    /// The remaining bytes of the frame's payload.
    payload_bytes: u64,
    /// Fragments of the current message.
    fragments: u32,
}

impl FrameMeter {
    /// Parses bytes. Returns true if their fragments are within the limit.
    fn count_bytes(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.payload_bytes > 0 {
                let skipped = self.payload_bytes.min(bytes.len() as u64);
                self.payload_bytes -= skipped;
                bytes = &bytes[usize::try_from(skipped).unwrap_or(bytes.len())..];
                continue;
            }
            self.head[self.head_bytes] = bytes[0];
            self.head_bytes += 1;
            bytes = &bytes[1..];
            if self.head_bytes == self.head_length() {
                self.end_head();
            }
            if self.fragments > FRAGMENTS_MAX {
                return false;
            }
        }
        true
    }

    fn head_length(&self) -> usize {
        if self.head_bytes < 2 {
            return HEAD_BYTES_MAX;
        }
        let length_bytes = match self.head[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let mask_bytes = if self.head[1] & 0x80 == 0 { 0 } else { 4 };
        2 + length_bytes + mask_bytes
    }

    /// Counts a complete head and skips its payload.
    fn end_head(&mut self) {
        self.payload_bytes = match self.head[1] & 0x7f {
            126 => u64::from(u16::from_be_bytes([self.head[2], self.head[3]])),
            127 => {
                let mut length = [0; 8];
                length.copy_from_slice(&self.head[2..10]);
                u64::from_be_bytes(length)
            }
            short => u64::from(short),
        };
        self.head_bytes = 0;
        let last = self.head[0] & 0x80 != 0;
        let control = self.head[0] & 0x08 != 0;
        if !control {
            self.fragments = if last { 0 } else { self.fragments + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: u8 = 0x80;
    const LAST: u8 = 0x80;

    fn frame(first: u8, length: u8) -> Vec<u8> {
        let mut bytes = vec![first, MASK | length, 1, 2, 3, 4];
        bytes.extend(vec![7; usize::from(length)]);
        bytes
    }

    fn fragments(count: u32) -> Vec<u8> {
        let mut bytes = frame(0x01, 0);
        (1..count).for_each(|_| bytes.extend(frame(0x00, 0)));
        bytes
    }

    #[test]
    fn counts_fragments_up_to_the_limit_and_no_further() {
        assert!(FrameMeter::default().count_bytes(&fragments(FRAGMENTS_MAX)));
        assert!(!FrameMeter::default().count_bytes(&fragments(FRAGMENTS_MAX + 1)));
    }

    #[test]
    fn a_whole_message_begins_the_count_anew() {
        let mut frames = FrameMeter::default();
        for _ in 0..3 {
            let mut message = fragments(FRAGMENTS_MAX);
            // Control frames may come in between and do not count.
            message.extend(frame(LAST | 0x09, 5));
            message.extend(frame(LAST, 3));
            assert!(frames.count_bytes(&message));
        }
    }

    #[test]
    fn the_count_does_not_depend_on_how_the_bytes_come() {
        let mut long = vec![0x01, MASK | 0x7e, 1, 0, 1, 2, 3, 4];
        long.extend(vec![0; 256]);
        let stream = [long, fragments(FRAGMENTS_MAX + 1)].concat();
        for piece in [1, 2, 3, 7, 100, stream.len()] {
            let mut frames = FrameMeter::default();
            let within = stream.chunks(piece).all(|bytes| frames.count_bytes(bytes));
            assert!(!within, "in pieces of {piece}");
        }
    }
}

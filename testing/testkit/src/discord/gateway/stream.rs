//! Stream: how frames are written on a socket.
//!
//! A client may ask for one stream of zlib or of zstd over all its frames. Both formats have blocks that
//! hold their bytes as they are, and so what is written here is a right stream that saves nothing.

use tokio_tungstenite::tungstenite::Message;

/// How a client wants its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    Zstd,
}

/// The frames of one socket.
#[derive(Debug)]
pub(super) struct Stream {
    compression: Compression,
    has_begun: bool,
}

/// What a zlib stream begins with: a window of 32 KiB, and no dictionary.
const ZLIB_HEAD: [u8; 2] = [0x78, 0x01];

/// The longest block of bytes as they are.
const ZLIB_BLOCK_MAX: usize = 65_535;

/// What a frame of zstd begins with: its magic number, no known length, a window of 2 MiB.
const ZSTD_HEAD: [u8; 6] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58];

const ZSTD_BLOCK_MAX: usize = 128 * 1024;

impl Stream {
    pub(super) fn new(query: &str) -> Self {
        let compression = match query.split('&').find_map(|one| one.strip_prefix("compress=")) {
            Some("zlib-stream") => Compression::Zlib,
            Some("zstd-stream") => Compression::Zstd,
            _ => Compression::None,
        };
        Self { compression, has_begun: false }
    }

    pub(super) fn frame(&mut self, text: String) -> Message {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match self.compression {
            Compression::None => Message::text(text),
            Compression::Zlib => Message::binary(zlib(text.as_bytes(), is_first)),
            Compression::Zstd => Message::binary(zstd(text.as_bytes(), is_first)),
        }
    }
}

/// Ends with an empty block, which is how a client knows that a frame is whole.
fn zlib(text: &[u8], is_first: bool) -> Vec<u8> {
    let mut out = if is_first { ZLIB_HEAD.to_vec() } else { Vec::new() };
    for block in text.chunks(ZLIB_BLOCK_MAX).chain([&[][..]]) {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(0);
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out
}

fn zstd(text: &[u8], is_first: bool) -> Vec<u8> {
    let mut out = if is_first { ZSTD_HEAD.to_vec() } else { Vec::new() };
    for block in text.chunks(ZSTD_BLOCK_MAX) {
        let length = u32::try_from(block.len()).unwrap_or_default();
        // The lowest bit would say that it is the last, the next two that it is something else.
        out.extend(&(length << 3).to_le_bytes()[..3]);
        out.extend(block);
    }
    out
}

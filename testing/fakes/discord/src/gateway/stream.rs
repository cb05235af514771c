//! Encodes frames for a socket.
//!
//! A client may request one stream of zlib or zstd over all its frames. Both formats have blocks of uncompressed bytes,
//! so the encoder writes a valid stream without compression.

use tokio_tungstenite::tungstenite::Message;

/// Compression that a client requests.
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

/// Header of a zlib stream: a window of 32 KiB, and no dictionary.
const ZLIB_HEAD: [u8; 2] = [0x78, 0x01];

/// Maximum length of an uncompressed block.
const ZLIB_BLOCK_MAX: usize = 65_535;

/// Header of a zstd frame: its magic number, no known length, a window of 2 MiB.
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

/// Encodes a frame. It ends with an empty block, by which a client knows that the frame is complete.
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
        // The lowest bit would mark the last block, and the next two another type.
        out.extend(&(length << 3).to_le_bytes()[..3]);
        out.extend(block);
    }
    out
}

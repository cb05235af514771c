//! Z02: for every input on the gateway's socket, no frame exceeds the limit, unknown ops have no effect, and all events
//! are converted. Nothing is compressed, because the adapter does not request it.

use std::sync::LazyLock;

use nightdesk_discord::fuzz::{FRAME_BYTES_MAX, Overheard, overhear};
use nightdesk_port::Bot;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::adapters::discord_bot;

/// Gateway ops that have an effect.
const KNOWN: [u64; 6] = [0, 1, 7, 9, 10, 11];

static BOT: LazyLock<Bot> = LazyLock::new(|| discord_bot(&[7; 32]));

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));

/// The first byte selects raw frames, or lines that are put into frames.
pub(super) fn run(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    let bytes = if kind.is_multiple_of(2) { framed(rest) } else { rest.to_vec() };
    for Overheard { text, effects } in RUNTIME.block_on(overhear(&BOT, &bytes)) {
        assert!(text.len() <= FRAME_BYTES_MAX, "a frame of {} bytes", text.len());
        let frame: Option<Value> = serde_json::from_str(&text).ok();
        let op = frame.as_ref().and_then(|frame| frame["op"].as_u64());
        let is_new = op.is_none_or(|op| !KNOWN.contains(&op));
        assert!(!is_new || effects == 0, "{text} is new to us, and did something");
    }
}

/// Puts each line into a frame.
fn framed(lines: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        bytes.extend([0x81, 127]);
        bytes.extend((line.len() as u64).to_be_bytes());
        bytes.extend(line);
    }
    bytes
}

//! Entry points for fuzzers only.

use std::io::Cursor;

use nightdesk_port::Bot;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::heard::said;
use super::socket::{self, Came, Connection, Socket, bounds};
use super::talk::{Effect, Talk};
use crate::eyes::Guilds;

/// Maximum size of a frame.
pub const FRAME_BYTES_MAX: usize = socket::FRAME_BYTES_MAX;

/// A frame that was read.
#[derive(Debug)]
pub struct Overheard {
    /// The frame's text.
    pub text: String,
    /// Number of effects of the frame.
    pub effects: usize,
}

/// Reads these bytes of a socket to their end, as if Discord had sent them.
pub async fn overhear(bot: &Bot, bytes: &[u8]) -> Vec<Overheard> {
    let bytes = tokio::io::join(Cursor::new(bytes.to_vec()), tokio::io::sink());
    let connection: Box<dyn Connection> = Box::new(bytes);
    let stream = WebSocketStream::from_raw_socket(connection, Role::Client, Some(bounds())).await;
    let (mut socket, mut talk) = (Socket::new(stream), Talk::new(None, false, None));
    let (guilds, mut heard) = (Guilds::default(), Vec::new());
    loop {
        match socket.hear().await {
            Came::Text(text) => {
                let effects = talk.hear(&text);
                for effect in &effects {
                    take(bot, &guilds, effect);
                }
                heard.push(Overheard { text: text.to_string(), effects: effects.len() });
            }
            Came::Nothing => {}
            Came::End(_) => return heard,
        }
    }
}

fn take(bot: &Bot, guilds: &Guilds, effect: &Effect) {
    let Effect::Tell(told) = effect else { return };
    guilds.take(bot.id, &told.kind, told.data.as_bytes());
    drop(said(guilds, bot, told, String::new()));
}

//! Entry points for fuzzers only.

use std::io::Cursor;

use nightdesk_port::Bot;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::dispatch::convert_dispatch;
use super::session::{GatewayEffect, GatewaySession};
use crate::visibility::GuildCache;
use nightdesk_kit::socket::{self, PlatformSocket, SocketRead, SocketTransport, socket_limits};

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
    let connection: Box<dyn SocketTransport> = Box::new(bytes);
    let stream =
        WebSocketStream::from_raw_socket(connection, Role::Client, Some(socket_limits())).await;
    let (mut socket, mut talk) =
        (PlatformSocket::new(stream), GatewaySession::new(None, false, None));
    let (guilds, mut heard) = (GuildCache::default(), Vec::new());
    loop {
        match socket.read_message().await {
            SocketRead::Text(text) => {
                let effects = talk.handle_frame(&text);
                for effect in &effects {
                    take(bot, &guilds, effect);
                }
                heard.push(Overheard { text: text.to_string(), effects: effects.len() });
            }
            SocketRead::Nothing => {}
            SocketRead::End(_) => return heard,
        }
    }
}

fn take(bot: &Bot, guilds: &GuildCache, effect: &GatewayEffect) {
    let GatewayEffect::Tell(told) = effect else { return };
    guilds.apply_event(bot.id, &told.kind, told.data.as_bytes());
    drop(convert_dispatch(guilds, bot, told, String::new()));
}

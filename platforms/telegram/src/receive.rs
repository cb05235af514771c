//! Receive: what Telegram posts to a bot's webhook, if it shows the secret that was agreed on.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use http::HeaderMap;
use nightdesk_port::{Bot, Receive, ReceiveError, Received, SignedRequest};
use nightdesk_vault::Key;

use crate::Telegram;
use crate::words::event;

/// The header in which Telegram shows the secret.
pub const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";

/// What the secret is made for, so that it is good for nothing else.
const PURPOSE: &str = "nightdesk telegram webhook";

impl Receive for Telegram {
    fn receive(&self, bot: &Bot, request: &SignedRequest<'_>) -> Result<Received, ReceiveError> {
        check(bot, request.headers)?;
        let event = event(bot, request.body).transpose();
        Ok(Received::Events(event.into_iter().collect()))
    }
}

/// The secret that Telegram is told to show. It follows from the key, so there is nothing more to keep,
/// it changes with the key, and nobody comes from it to the key.
pub fn webhook_secret(bot: &Bot) -> Option<Key> {
    bot.key.as_ref().map(|key| Key::new(secret(bot, key)))
}

fn secret(bot: &Bot, key: &Key) -> String {
    let key = key.with(|key| hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()));
    hex::encode(hmac::sign(&key, format!("{PURPOSE} {}", bot.id).as_bytes()))
}

/// Compares in constant time. Two headers are refused, whatever they say: what stands before us may
/// have looked at the other one.
fn check(bot: &Bot, headers: &HeaderMap) -> Result<(), ReceiveError> {
    let mut shown = headers.get_all(SECRET_HEADER).iter();
    let (Some(shown), None) = (shown.next(), shown.next()) else {
        return Err(ReceiveError::BadSignature);
    };
    let is_shown =
        |key: &Key| verify_slices_are_equal(secret(bot, key).as_bytes(), shown.as_bytes()).is_ok();
    if bot.believed_keys().any(is_shown) { Ok(()) } else { Err(ReceiveError::BadSignature) }
}

#[cfg(test)]
mod tests;

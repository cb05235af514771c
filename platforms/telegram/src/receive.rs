//! Receives webhook requests that show the agreed secret.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use http::HeaderMap;
use nightdesk_kit::webhook::{check_unambiguous, only_header};
use nightdesk_port::{Bot, Receive, ReceiveError, RequestContent, SignedRequest};
use nightdesk_vault::Key;

use crate::Telegram;
use crate::events::convert_update;

/// The header with the secret.
pub const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";

/// Purpose of the derived secret, so that it is valid for nothing else.
const PURPOSE: &str = "nightdesk telegram webhook";

impl Receive for Telegram {
    fn receive(
        &self,
        bot: &Bot,
        request: &SignedRequest<'_>,
    ) -> Result<RequestContent, ReceiveError> {
        check_secret(bot, request.headers)?;
        let event =
            check_unambiguous(request.body).and_then(|()| convert_update(bot, request.body));
        let event = event.transpose();
        Ok(RequestContent::Events(event.into_iter().collect()))
    }
}

/// Returns the secret of the webhook. It is derived from the key, so it need not be stored, it changes with the key,
/// and the key cannot be computed from it.
pub fn webhook_secret(bot: &Bot) -> Option<Key> {
    bot.key.as_ref().map(|key| Key::new(derive_secret(bot, key)))
}

fn derive_secret(bot: &Bot, key: &Key) -> String {
    let key = key.with(|key| hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()));
    hex::encode(hmac::sign(&key, format!("{PURPOSE} {}", bot.id).as_bytes()))
}

/// Compares the secret in constant time.
fn check_secret(bot: &Bot, headers: &HeaderMap) -> Result<(), ReceiveError> {
    let shown = only_header(headers, SECRET_HEADER).ok_or(ReceiveError::BadSignature)?;
    let is_shown = |key: &Key| {
        verify_slices_are_equal(derive_secret(bot, key).as_bytes(), shown.as_bytes()).is_ok()
    };
    if bot.believed_keys().any(is_shown) { Ok(()) } else { Err(ReceiveError::BadSignature) }
}

#[cfg(test)]
mod tests;

//! Identifies a visitor by a cookie that only the bot's key can sign.
//!
//! A cookie that is forged, too old or of another bot is ignored: the visitor gets a new one and never an error.

use aws_lc_rs::{hmac, rand};
use http::HeaderMap;
use http::header::COOKIE;
use nightdesk_port::Bot;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::CHAT_SESSION_DAYS;
use nightdesk_vault::Key;

/// The cookie's name.
pub const COOKIE_NAME: &str = "nightdesk_chat";

/// Prefix of the signed text, so that no other signature of the key is accepted.
const SIGNED_AS: &str = "nightdesk webchat session";

const DAY_SECS: i64 = 24 * 60 * 60;

/// Hex digits of a visitor's id: 128 bits.
const VISITOR_CHARS: usize = 32;

/// A visitor's identity, and the time when the cookie was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitorSession {
    /// The visitor's id on the platform, which is also the id of their chat.
    pub visitor: String,
    issued: i64,
}

impl VisitorSession {
    /// Creates a new visitor.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "without randomness, visitors could not be told apart"
    )]
    pub fn new(now: Timestamp) -> Self {
        let mut bytes = [0; VISITOR_CHARS / 2];
        rand::fill(&mut bytes).expect("the system gives random bytes");
        Self { visitor: hex::encode(bytes), issued: now.as_second() }
    }

    /// Returns the session of a request to a bot, if it has a valid cookie.
    pub fn from_request(bot: &Bot, headers: &HeaderMap, now: Timestamp) -> Option<Self> {
        let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = values.flat_map(|value| value.split(';'));
        let named =
            pairs.filter_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='));
        named.into_iter().find_map(|value| Self::verify(bot, value, now))
    }

    fn verify(bot: &Bot, value: &str, now: Timestamp) -> Option<Self> {
        let (signed, signature) = value.rsplit_once('.')?;
        let (visitor, issued) = signed.split_once('.')?;
        let signature = hex::decode(signature).ok()?;
        let by = verify_signature(bot, &signed_text(bot, visitor, issued), &signature)?;
        let issued: i64 = issued.parse().ok()?;
        let age = now.as_second().checked_sub(issued)?;
        // The clock of another node may be slightly ahead.
        let is_current = (-DAY_SECS..CHAT_SESSION_DAYS * DAY_SECS).contains(&age);
        // A replaced key soon becomes invalid, so its cookies count as due for renewal.
        let renewed_first = now.as_second().saturating_sub(DAY_SECS + 1);
        let issued = if by == SigningKeyAge::Now { issued } else { issued.min(renewed_first) };
        (is_visitor(visitor) && is_current).then(|| Self { visitor: visitor.to_owned(), issued })
    }

    /// Returns the cookie's value. `None` if the bot has no key, so that it cannot identify visitors.
    pub fn cookie_value(&self, bot: &Bot) -> Option<String> {
        let Self { visitor, issued } = self;
        let signature =
            hmac::sign(&signing_key(bot)?, &signed_text(bot, visitor, &issued.to_string()));
        Some(format!("{visitor}.{issued}.{}", hex::encode(signature)))
    }

    /// Returns true if the cookie is due for renewal, so that a frequent visitor keeps their identity.
    pub fn is_to_be_renewed(&self, now: Timestamp) -> bool {
        now.as_second() - self.issued > DAY_SECS
    }

    /// Returns the same visitor with a new issue time.
    #[must_use]
    pub fn renew(&self, now: Timestamp) -> Self {
        Self { visitor: self.visitor.clone(), issued: now.as_second() }
    }

    /// Returns the `Set-Cookie` header for the page of that path.
    pub fn set_cookie(&self, bot: &Bot, path: &str, public_url: &str) -> Option<String> {
        let value = self.cookie_value(bot)?;
        let max_age = CHAT_SESSION_DAYS * DAY_SECS;
        let secure = if public_url.starts_with("https://") { "; Secure" } else { "" };
        Some(format!(
            "{COOKIE_NAME}={value}; Path=/chat/{path}; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}"
        ))
    }
}

/// Returns true if a chat's id has the format of a visitor's id.
pub fn is_visitor(id: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    id.len() == VISITOR_CHARS && id.bytes().all(is_digit)
}

/// Returns the key that signs for a bot.
pub(crate) fn signing_key(bot: &Bot) -> Option<hmac::Key> {
    bot.key.as_ref().map(hmac_key)
}

fn hmac_key(key: &Key) -> hmac::Key {
    key.with(|key| hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()))
}

/// The key that made a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SigningKeyAge {
    /// The current key.
    Now,
    /// A recently replaced key.
    Before,
}

/// Returns the kind of key that signed a message, if the bot still accepts that key.
pub(crate) fn verify_signature(
    bot: &Bot,
    message: &[u8],
    signature: &[u8],
) -> Option<SigningKeyAge> {
    let signed = |key: &Key| hmac::verify(&hmac_key(key), message, signature).is_ok();
    match bot.believed_keys().position(signed)? {
        0 => Some(SigningKeyAge::Now),
        _ => Some(SigningKeyAge::Before),
    }
}

/// Returns the signed text. It contains the bot, because two bots may have the same key.
fn signed_text(bot: &Bot, visitor: &str, issued: &str) -> Vec<u8> {
    format!("{SIGNED_AS}\n{}\n{visitor}\n{issued}", bot.id).into_bytes()
}

#[cfg(test)]
mod tests;

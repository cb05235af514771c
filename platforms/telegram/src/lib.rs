//! Telegram, by its Bot API.
//!
//! # Promise
//!
//! Nothing of a webhook is read before it showed its secret. Whatever Telegram sends becomes an
//! event, is left out because nobody said anything, or is kept as unreadable: nothing of it can
//! stop us. No key, text or name is in any log or error.
//!
//! Begin with [`Telegram`]. [`words`] says what an update is in our words.
//!
//! The shapes of the API are our own, and few: a library that knows all of them refuses an update in
//! which one field is new, and we need a dozen calls.

mod receive;
mod words;

#[cfg(test)]
mod tests;

pub use receive::{SECRET_HEADER, webhook_secret};

/// The adapter's name, and the platform's.
pub const NAME: &str = "telegram";

/// The adapter of Telegram.
#[derive(Debug)]
pub struct Telegram;

//! Session keys: a gateway's names for conversations.
//!
//! Clients differ: [`stock_key`] computes the key of 0.19.0 and [`newest_key`] that of its successors. Neither
//! distinguishes two servers or unusual ids. So the desk accepts a gateway's key as it is and never compares it with
//! another client's. The desk's own key is [`DeskSession`].

use std::fmt;

use nightdesk_types::event::Source;
use serde::{Deserialize, Serialize};

mod any_client;
mod part;
mod platforms;
mod whatsapp;
mod stock;
mod newest;
mod desk_session;

pub use any_client::{key_of_sdk, keys_of_source, of_any_client};
pub use desk_session::DeskSession;
pub use newest::newest_key;
pub use part::Part;
pub use platforms::is_known_to_stock_clients;
pub use stock::stock_key;
pub(crate) use whatsapp::WHATSAPP;

/// Longest session key from or for a gateway.
pub const SESSION_KEY_BYTES_MAX: usize = 4 * 1024;

/// A gateway's name for a conversation. To the desk it is opaque.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SessionKey(String);

impl SessionKey {
    /// Accepts a key that is not empty, not too long and free of U+0000.
    pub fn new(key: impl Into<String>) -> Option<Self> {
        let key = key.into();
        let fits = (1..=SESSION_KEY_BYTES_MAX).contains(&key.len()) && !key.contains('\0');
        fits.then_some(Self(key))
    }

    /// Returns the key as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn from_parts(parts: &[&str]) -> Result<Self, Unkeyable> {
        Self::new(parts.join(":")).ok_or(Unkeyable)
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The source would kill the client instead of giving a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("source has no session key")]
pub struct Unkeyable;

/// The fields of a source that enter a key, as loosely typed as on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct KeySource<'a> {
    /// The platform's name.
    #[serde(borrow, default)]
    pub platform: Part<'a>,
    /// The chat.
    #[serde(borrow, default)]
    pub chat_id: Part<'a>,
    /// The kind of chat. An absent one is `dm`; null is different.
    #[serde(borrow, default = "Part::dm")]
    pub chat_type: Part<'a>,
    /// The thread in the chat.
    #[serde(borrow, default)]
    pub thread_id: Part<'a>,
    /// The id of the author.
    #[serde(borrow, default)]
    pub user_id: Part<'a>,
    /// A second, more stable id of the author.
    #[serde(borrow, default)]
    pub user_id_alt: Part<'a>,
    /// The server the chat belongs to.
    #[serde(borrow, default)]
    pub scope_id: Part<'a>,
    /// The thread a reply would open.
    #[serde(borrow, default)]
    pub prospective_thread_id: Part<'a>,
}

impl<'a> From<&'a Source> for KeySource<'a> {
    fn from(source: &'a Source) -> Self {
        Self {
            platform: Part::text(&source.platform),
            chat_id: Part::text(&source.chat_id),
            chat_type: Part::text(source.chat_type.as_str()),
            thread_id: Part::from_text(source.thread_id.as_deref()),
            user_id: Part::from_text(source.user_id.as_deref()),
            user_id_alt: Part::from_text(source.user_id_alt.as_deref()),
            scope_id: Part::from_text(source.scope_id.as_deref()),
            prospective_thread_id: Part::from_text(source.prospective_thread_id.as_deref()),
        }
    }
}

impl KeySource<'_> {
    /// Returns the participant, by the more stable id.
    const fn participant(&self) -> &Part<'_> {
        if self.user_id_alt.is_truthy() { &self.user_id_alt } else { &self.user_id }
    }
}

/// A gateway's configuration for sharing sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// True if each person in a group has their own session.
    pub group_sessions_per_user: bool,
    /// True if each person in a thread has their own session.
    pub thread_sessions_per_user: bool,
    /// The profile, if a gateway serves several.
    pub profile: Option<String>,
}

impl Default for Sharing {
    fn default() -> Self {
        Self { group_sessions_per_user: true, thread_sessions_per_user: false, profile: None }
    }
}

impl Sharing {
    /// Returns the profile, unless it is the default one.
    fn named_profile(&self) -> Option<&str> {
        self.profile.as_deref().filter(|profile| !matches!(*profile, "" | "default"))
    }

    /// Returns true if each person has their own session.
    const fn isolates(&self, in_thread: bool) -> bool {
        self.group_sessions_per_user && (!in_thread || self.thread_sessions_per_user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_bound() {
        let max = "x".repeat(SESSION_KEY_BYTES_MAX);

        assert!(SessionKey::new(max.as_str()).is_some());
        assert!(SessionKey::new(max + "x").is_none());
        assert!(SessionKey::new("").is_none());
        assert!(SessionKey::new("a\0b").is_none());
    }

    #[test]
    fn a_source_of_ours_is_keyed_as_it_is_on_the_wire() {
        let source = Source {
            platform: "slack".to_owned(),
            chat_id: "C1".to_owned(),
            chat_type: nightdesk_types::event::ChatType::Channel,
            user_id: Some("U1".to_owned()),
            scope_id: Some("T1".to_owned()),
            ..Source::default()
        };
        let (source, sharing) = (KeySource::from(&source), Sharing::default());

        assert_eq!(
            stock_key(&source, &sharing).unwrap().as_str(),
            "agent:main:slack:channel:C1:U1"
        );
        let newest = newest_key(&source, &sharing).unwrap();
        assert_eq!(newest.as_str(), "agent:main:slack:channel:T1:C1:U1");
    }
}

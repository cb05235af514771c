//! A platform's credential to answer one event, such as the token of an interaction.

use std::time::Duration;

use nightdesk_vault::Key;

/// A capability. It acts as the shared bot, so it never leaves the desk.
#[derive(Clone, Debug)]
pub struct Capability {
    /// The kind, such as `discord.interaction_token`.
    pub kind: String,
    /// The credential.
    pub secret: Key,
    /// The time that the capability remains valid.
    pub good_for: Duration,
}

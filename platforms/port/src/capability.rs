//! Capability: what a platform lends us to answer one event with, such as the token of an interaction.

use std::time::Duration;

use nightdesk_vault::Key;

/// A capability. It acts on the shared bot, so it never leaves the desk.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Which: `discord.interaction_token`.
    pub kind: String,
    /// The capability itself.
    pub secret: Key,
    /// For how long it is good.
    pub good_for: Duration,
}

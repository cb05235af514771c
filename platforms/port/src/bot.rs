//! The desk's account on a platform, as its adapter sees it.

use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;
use serde_json::Value;

/// The desk's account on a platform.
#[derive(Clone, Debug)]
pub struct Bot {
    /// The bot's id in the store.
    pub id: BotId,
    /// The tenant that operates the bot. The people that the bot serves may belong to other tenants.
    pub operator: TenantScope,
    /// The platform's name in messages to clients.
    pub platform: String,
    /// The bot's name on the platform.
    pub handle: String,
    /// Further settings of the adapter.
    pub settings: Value,
    /// The key of the account, for the adapter only.
    pub key: Option<Key>,
    /// Earlier keys that are still valid, newest first. A signature with one of them is accepted.
    pub former_keys: Vec<Key>,
}

impl Bot {
    /// Returns the keys that are valid for signatures of incoming requests, newest first.
    pub fn believed_keys(&self) -> impl Iterator<Item = &Key> {
        self.key.iter().chain(&self.former_keys)
    }
}

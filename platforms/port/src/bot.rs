//! Bot: an account of ours on a platform, as its adapter sees it.

use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;
use serde_json::Value;

/// An account of ours on a platform.
#[derive(Clone, Debug)]
pub struct Bot {
    /// Its id in the store.
    pub id: BotId,
    /// Who runs it. The people it serves may belong to other tenants.
    pub operator: TenantScope,
    /// The platform's name, as clients are told it.
    pub platform: String,
    /// What the platform calls it.
    pub handle: String,
    /// What its adapter wants to know besides.
    pub settings: Value,
    /// The key to its account, for its adapter alone.
    pub key: Option<Key>,
    /// Keys it had before and that are still good, newest first: what is signed with one is believed.
    pub former_keys: Vec<Key>,
}

impl Bot {
    /// The keys that what comes in may be signed with, newest first.
    pub fn believed_keys(&self) -> impl Iterator<Item = &Key> {
        self.key.iter().chain(&self.former_keys)
    }
}

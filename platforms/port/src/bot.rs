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
}

//! Shared helpers of the tests.

use nightdesk_port::Bot;
use nightdesk_types::{BotId, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::json;
use uuid::Uuid;

/// Returns a bot with its own key.
pub(crate) fn bot() -> Bot {
    keyed("k3y")
}

/// Returns the same bot with another key.
pub(crate) fn keyed(key: &str) -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: "webchat".to_owned(),
        handle: "owl".to_owned(),
        settings: json!({}),
        key: Some(Key::new(key.to_owned())),
        former_keys: Vec::new(),
    }
}

/// Returns another bot with the same key.
pub(crate) fn other_bot() -> Bot {
    Bot { id: BotId::from_uuid(Uuid::from_u128(3)), ..bot() }
}

//! Shared helpers of the tests.

use std::sync::Arc;

use nightdesk_port::Bot;
use nightdesk_testkit::FakeClock;
use nightdesk_types::{BotId, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::json;
use uuid::Uuid;

use crate::Telegram;

/// The bot's token. The part before the colon is its id.
pub(crate) const TOKEN: &str = "4242:canary-token-7f3a";

/// Returns a bot named `desk_bot`.
pub(crate) fn bot() -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: "telegram".to_owned(),
        handle: "desk_bot".to_owned(),
        settings: json!({}),
        key: Some(Key::new(TOKEN.to_owned())),
        former_keys: Vec::new(),
    }
}

/// Creates an adapter whose address is not reachable.
pub(crate) fn telegram() -> Telegram {
    telegram_at("http://127.0.0.1:1")
}

/// Creates an adapter for this address.
pub(crate) fn telegram_at(url: &str) -> Telegram {
    Telegram::open(url, Arc::new(FakeClock::default())).expect("an address")
}

//! Who plays in the tests.

use std::sync::Arc;

use nightdesk_port::Bot;
use nightdesk_testkit::FakeClock;
use nightdesk_types::{BotId, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::json;
use uuid::Uuid;

use crate::Telegram;

/// The token of the bot: what stands before the colon is its id.
pub(crate) const TOKEN: &str = "4242:canary-token-7f3a";

/// A bot called `desk_bot`.
pub(crate) fn bot() -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::of(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: "telegram".to_owned(),
        handle: "desk_bot".to_owned(),
        settings: json!({}),
        key: Some(Key::new(TOKEN.to_owned())),
        former_keys: Vec::new(),
    }
}

/// An adapter that reaches nobody.
pub(crate) fn telegram() -> Telegram {
    telegram_at("http://127.0.0.1:1")
}

/// An adapter of what is found at this address.
pub(crate) fn telegram_at(url: &str) -> Telegram {
    Telegram::open(url, Arc::new(FakeClock::default())).expect("an address")
}

//! Shared helpers of the tests.

pub(crate) mod gateway;
pub(crate) mod stub;
mod together;

use std::sync::Arc;

use nightdesk_port::{Bot, UnlimitedBudget};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{BotId, Clock, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::json;
use uuid::Uuid;

use crate::Discord;

/// The bot's token. The part before the first dot encodes its id, 4242.
pub(crate) const TOKEN: &str = "NDI0Mg.Gabcde.canary-token-7f3a";

/// Returns a bot named `desk`.
pub(crate) fn bot() -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: "discord".to_owned(),
        handle: "desk".to_owned(),
        settings: json!({}),
        key: Some(Key::new(TOKEN.to_owned())),
        former_keys: Vec::new(),
    }
}

/// Creates an adapter whose address is not reachable.
pub(crate) fn discord_with(clock: Arc<dyn Clock>) -> Discord {
    open("http://127.0.0.1:1", clock).expect("an address")
}

/// Creates an adapter for this address.
pub(crate) fn discord_at(url: &str) -> Discord {
    open(url, Arc::new(FakeClock::default())).expect("an address")
}

pub(crate) fn open(api: &str, clock: Arc<dyn Clock>) -> Result<Discord, crate::OpenError> {
    let at = crate::DiscordUrls { api, gateway: "ws://127.0.0.1:1", cdn: api };
    Discord::open(at, clock, Arc::new(UnlimitedBudget))
}

//! Bots and adapters, whose platforms cannot be reached.

use std::sync::Arc;

use nightdesk_discord::{Discord, DiscordUrls};
use nightdesk_intake::{Intake, UnreadableEvent, VerifiedEvent};
use nightdesk_port::{Bot, UnlimitedBudget};
use nightdesk_telegram::Telegram;
use nightdesk_types::limits::PLATFORM_ID_BYTES_MAX;
use nightdesk_types::{BotId, Clock, Moment, TenantId, TenantScope, Timestamp};
use nightdesk_vault::Key;
use serde_json::{Value, json};
use uuid::Uuid;

/// The time of the clock.
pub(super) const NOW_SECS: i64 = 1_800_000_000;

/// Returns a bot of a platform with this key.
pub(super) fn bot(platform: &str, key: &str, settings: Value) -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: platform.to_owned(),
        handle: "desk_bot".to_owned(),
        settings,
        key: Some(Key::new(key.to_owned())),
        former_keys: Vec::new(),
    }
}

/// Returns a Discord bot whose interactions are signed with the private half of this key.
pub(super) fn discord_bot(public_key: &[u8]) -> Bot {
    let settings = json!({ "public_key": hex::encode(public_key), "application_id": "4242" });
    bot("discord", "NDI0Mg.Gabcde.key", settings)
}

/// Creates the Discord adapter with unreachable addresses.
pub(super) fn discord() -> Discord {
    let at = DiscordUrls {
        api: "http://127.0.0.1:1",
        gateway: "ws://127.0.0.1:1",
        cdn: "http://127.0.0.1:1",
    };
    Discord::open(at, Arc::new(StoppedClock), Arc::new(UnlimitedBudget)).expect("addresses")
}

/// Creates the Telegram adapter with an unreachable address.
pub(super) fn telegram() -> Telegram {
    Telegram::open("http://127.0.0.1:1", Arc::new(StoppedClock)).expect("an address")
}

/// Returns the time of the clock.
pub(super) fn now() -> Timestamp {
    Timestamp::from_second(NOW_SECS).unwrap_or_default()
}

/// A clock that stands still.
#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        now()
    }

    fn moment(&self) -> Moment {
        Moment::default()
    }
}

/// Checks the result of an authentic request: events can be stored, and an unreadable one has a reason.
pub(super) fn check_intake(intake: &Intake) {
    let Intake::Events(events) = intake else { return };
    for event in events {
        match event {
            Ok(event) => check_storable(event),
            Err(UnreadableEvent { problem, .. }) => assert!(!problem.is_empty(), "it says why"),
        }
    }
}

/// Checks that the event contains nothing that PostgreSQL would refuse.
fn check_storable(event: &VerifiedEvent) {
    let event = event.get();
    for id in [event.key(), &event.source().chat_id, &event.source().platform] {
        assert!(id.len() <= PLATFORM_ID_BYTES_MAX && !id.contains('\0'), "{id:?}");
    }
    assert!(!event.key().is_empty(), "every event has a key");
}

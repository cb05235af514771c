//! Fuzz: what strangers may send, made up by a fuzzer (`just fuzz`).
//!
//! Each target is a binary of its own. It takes any bytes, hands them to the code that meets them first in
//! a desk, and panics if a promise does not hold.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a target stops at what is not as it should be"
)]

use std::sync::Arc;

use nightdesk_discord::{Addresses, Discord};
use nightdesk_intake::{Intake, Quarantined, Verified};
use nightdesk_port::{Bot, Unlimited};
use nightdesk_telegram::Telegram;
use nightdesk_types::limits::PLATFORM_ID_BYTES_MAX;
use nightdesk_types::{BotId, Clock, Event, Moment, TenantId, TenantScope, Timestamp};
use nightdesk_vault::Key;
use serde_json::{Value, json};
use uuid::Uuid;

/// What the clock shows.
pub const NOW_SECS: i64 = 1_800_000_000;

/// A bot of a platform, with this key.
pub fn bot(platform: &str, key: &str, settings: Value) -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::of(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: platform.to_owned(),
        handle: "desk_bot".to_owned(),
        settings,
        key: Some(Key::new(key.to_owned())),
        former_keys: Vec::new(),
    }
}

/// A bot on Discord, whose interactions are signed with what belongs to this key.
pub fn discord_bot(public_key: &[u8]) -> Bot {
    let settings = json!({ "public_key": hex::encode(public_key), "application_id": "4242" });
    bot("discord", "NDI0Mg.Gabcde.key", settings)
}

/// Discord's adapter, which reaches nobody.
pub fn discord() -> Discord {
    let at = Addresses {
        api: "http://127.0.0.1:1",
        gateway: "ws://127.0.0.1:1",
        cdn: "http://127.0.0.1:1",
    };
    Discord::open(at, Arc::new(Stopped), Arc::new(Unlimited)).expect("addresses")
}

/// The same of Telegram.
pub fn telegram() -> Telegram {
    Telegram::open("http://127.0.0.1:1", Arc::new(Stopped)).expect("an address")
}

/// A clock that stands still.
#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(NOW_SECS).unwrap_or_default()
    }

    fn moment(&self) -> Moment {
        Moment::default()
    }
}

/// Checks what became of something authentic: each event can be stored, and what is none is kept for a person.
pub fn check(intake: &Intake) {
    let Intake::Events(events) = intake else { return };
    for event in events {
        match event {
            Ok(event) => storable(event),
            Err(Quarantined { problem, .. }) => assert!(!problem.is_empty(), "it says why"),
        }
    }
}

/// What PostgreSQL would refuse is refused here first.
fn storable(event: &Verified<Event>) {
    let event = event.get();
    for id in [event.key(), &event.source().chat_id, &event.source().platform] {
        assert!(id.len() <= PLATFORM_ID_BYTES_MAX && !id.contains('\0'), "{id:?}");
    }
    assert!(!event.key().is_empty(), "every event has a key");
}

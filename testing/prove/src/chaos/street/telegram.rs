//! Simulates people who write privately to the bot on Telegram, which the desk polls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use nightdesk_fake_telegram::{Called, FakeTelegram};
use serde_json::json;
use tokio::time::sleep;

use super::people::{Person, Unconfirmed, pace};
use super::{Hall, LOOK_EVERY};
use crate::chance::Dice;

/// The part before the colon is the bot's id.
pub(super) const TOKEN: &str = "4242:the-key-of-the-desk-on-the-street";

const STRANGER: i64 = 800_000;
const PROGRAM: i64 = 800_001;
const FIRST_PERSON: i64 = 900_000;

/// The street's Telegram.
pub(super) struct Telegram {
    fake: FakeTelegram,
    /// Each message by its number.
    unconfirmed: Unconfirmed<u64>,
    said: AtomicU64,
}

/// Returns the Telegram id of a member's person.
pub(super) fn person(member: usize) -> i64 {
    FIRST_PERSON.saturating_add_unsigned(member as u64)
}

impl Telegram {
    pub(super) async fn open() -> Result<Self> {
        let fake = FakeTelegram::open().await;
        fake.bot(TOKEN, "desk_bot");
        Ok(Self { fake, unconfirmed: Unconfirmed::default(), said: AtomicU64::default() })
    }

    pub(super) fn url(&self) -> String {
        self.fake.url()
    }

    /// Writes messages until the stop command.
    pub(super) async fn write(self: Arc<Self>, hall: Arc<Hall>) {
        let Some(mut pace) = pace(hall.street.rates.telegram) else { return };
        let Some(bot) = hall.street.telegram else { return };
        let mut dice = Dice::of(hall.plan.seed, 70_001);
        for number in 1_u64.. {
            pace.tick().await;
            if hall.stopping.load(Ordering::Relaxed) {
                return;
            }
            let who = Person::next(&hall, &mut dice);
            let nonce = format!("t{number}");
            let id = match who {
                Person::Of(member) => person(member),
                Person::Stranger => STRANGER,
                Person::Program => PROGRAM,
            };
            hall.writes(who, (bot, &id.to_string()), (&nonce, number));
            let from = json!({ "id": id, "is_bot": who == Person::Program, "first_name": "Ann" });
            let message = json!({ "from": from, "text": format!("{nonce} words on the street") });
            self.unconfirmed.add(number, nonce);
            self.fake.happens(TOKEN, json!({ "message": message }));
            self.said.store(number, Ordering::Relaxed);
        }
    }

    /// Records the desk's actions.
    #[expect(clippy::infinite_loop, reason = "the owner of its task ends it with the street")]
    pub(super) async fn watch(self: Arc<Self>, hall: Arc<Hall>) {
        let Some(bot) = hall.street.telegram else { return };
        let mut calls = 0;
        loop {
            // No message arrives between the two reads: one thread does both.
            let said = self.said.load(Ordering::Relaxed);
            let pending = self.fake.pending(TOKEN) as u64;
            self.unconfirmed.confirmed(&hall, &said.saturating_sub(pending));
            for call in self.fake.calls_after(calls) {
                calls += 1;
                if let Some((chat, text)) = words(&call) {
                    hall.hears(bot, &chat.to_string(), text);
                }
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

/// Returns the chat and text of a call, if it sent a message.
fn words(call: &Called) -> Option<(i64, &str)> {
    let sent = call.answered.as_ref().ok().filter(|_| call.method == "sendMessage")?;
    Some((sent["chat"]["id"].as_i64()?, sent["text"].as_str()?))
}

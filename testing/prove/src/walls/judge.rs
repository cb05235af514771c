//! Checks the agents' events and the platforms' calls for messages at a wrong recipient.

use std::sync::atomic::Ordering;

use serde_json::Value;

use super::play::Play;
use super::who::{self, ALL, GROUP, ROOM};
use super::world::World;
use crate::ui;

/// The counts of a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events that agents received, of all kinds.
    pub told: u64,
    /// Answers that bots sent.
    pub said: u64,
    /// Events and answers at a wrong recipient, and changes of other agents' messages.
    pub crossed: u64,
    /// Tries to change a message of another agent.
    pub meddled: u64,
    /// Own messages that agents edited.
    pub edited: u64,
    /// Expected events that arrived after the time limit.
    pub late: u64,
    /// Expected events that did not arrive.
    pub lost: u64,
}

impl Tally {
    fn count(&mut self, belongs: bool, what: &str) {
        if !belongs {
            self.crossed += 1;
            ui::say(&format!("crossed: {what}"));
        }
    }
}

/// Judges a finished play.
pub(super) fn judge(world: &World, play: &Play<'_>) -> Tally {
    let crossed = play.stolen.load(Ordering::Relaxed);
    let mut tally = Tally { crossed, ..Tally::default() };
    for (agent, told) in play.notes.all().iter() {
        tally.told += 1;
        let mut owners = who::words(told.word()).map(|(owner, _)| owner);
        tally.count(owners.all(|owner| owner == *agent), &format!("{agent} was told {told:?}"));
    }
    on_discord(world, &mut tally);
    on_telegram(world, &mut tally);
    tally
}

/// Checks the bots' messages on Discord: each must be from its word's bot, in the room, or under its command's token.
fn on_discord(world: &World, tally: &mut Tally) {
    for call in world.discord.calls_of("POST /channels/{}/messages") {
        let text = call.asked["content"].as_str().unwrap_or_default();
        for (owner, word) in who::words(text) {
            let by_its_bot = call.token == who::discord_token(ALL[owner].bot);
            let in_the_room = call.path.contains(&format!("/{ROOM}/"));
            tally.said += 1;
            tally.count(by_its_bot && in_the_room && text == word, &format!("{text:?} was said"));
        }
    }
    for interaction in world.discord.interactions() {
        let person = interaction.told["member"]["user"]["id"].as_str().unwrap_or_default();
        let texts = interaction.said.iter().filter_map(|said| said["content"].as_str());
        for (text, (owner, word)) in texts.flat_map(|text| who::words(text).map(move |w| (text, w)))
        {
            let by_its_person = person == who::on_discord(owner).to_string();
            tally.said += 1;
            tally.count(by_its_person && text == word, &format!("{text:?} answered {person}"));
        }
    }
}

/// Checks the bots' messages on Telegram: each must come from the bot of its word, to the person, or in the group.
fn on_telegram(world: &World, tally: &mut Tally) {
    for call in world.telegram.calls() {
        let Some(text) = call.asked.get("text").and_then(Value::as_str) else { continue };
        // Marked-up text is escaped.
        let text = text.replace('\\', "");
        for (owner, word) in who::words(&text) {
            let by_its_bot = call.token == who::telegram_token(ALL[owner].bot);
            let chat = call.asked.get("chat_id").map(said).unwrap_or_default();
            let place = if who::is_of(word, "group") { GROUP } else { who::on_telegram(owner) };
            tally.said += 1;
            let belongs = by_its_bot && chat == place.to_string() && text == word;
            tally.count(belongs, &format!("{text:?} was said to {chat}"));
        }
    }
}

/// Returns a chat's id, given as a number or as a string.
fn said(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

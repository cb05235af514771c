//! Judge: whether everything went where it belongs, by what agents were told and what platforms were asked.

use std::sync::atomic::Ordering;

use serde_json::Value;

use super::agents::Told;
use super::play::Play;
use super::who::{self, ALL, GROUP, ROOM};
use super::world::World;
use crate::ui;

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What agents were told, of all kinds.
    pub told: u64,
    /// What bots said that was an answer.
    pub said: u64,
    /// What crossed.
    pub crossed: u64,
    /// What did not come.
    pub missing: u64,
}

impl Tally {
    fn count(&mut self, belongs: bool, what: &str) {
        if !belongs {
            self.crossed += 1;
            ui::say(&format!("crossed: {what}"));
        }
    }
}

/// Judges a play that is over.
pub(super) fn judge(world: &World, play: &Play<'_>) -> Tally {
    let missing = play.missing.load(Ordering::Relaxed);
    let crossed = play.stolen.load(Ordering::Relaxed);
    let mut tally = Tally { crossed, missing, ..Tally::default() };
    for (agent, told) in play.notes.all().iter() {
        let (Told::Text(said) | Told::Press(said) | Told::File(said, _) | Told::Command(said, _)) =
            told;
        tally.told += 1;
        let mut owners = who::words(said).map(|(owner, _)| owner);
        tally.count(owners.all(|owner| owner == *agent), &format!("{agent} was told {told:?}"));
    }
    on_discord(world, &mut tally);
    on_telegram(world, &mut tally);
    tally
}

/// What bots said on Discord: each by the bot of whose word it is, in the room, or under the token of the very command.
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

/// What bots said on Telegram: each by the bot of whose word it is, to the person, or in the group.
fn on_telegram(world: &World, tally: &mut Tally) {
    for call in world.telegram.calls() {
        let Some(text) = call.asked.get("text").and_then(Value::as_str) else { continue };
        // What is marked up is escaped.
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

/// A chat's id, as a number or in quotation marks.
fn said(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

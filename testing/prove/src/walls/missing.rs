//! Names the events and messages that did not arrive in time, and tells lost ones from late ones after all work is done.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;
use tokio::time::sleep;

use super::agents::{Notes, Told};
use super::who::ROOM;
use super::world::World;
use crate::ui;

/// Interval of the looks for the end of all work.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// An event or a message that did not arrive in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// An event, by its agent, its kind and its word.
    Event { agent: usize, kind: &'static str, word: String },
    /// The prompt that an agent should have sent on a platform.
    Prompt { platform: &'static str, word: String },
    /// A file that its own agent could not fetch.
    File { agent: usize, word: String },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event { agent, kind, word } => write!(f, "the {kind} {word} for agent {agent}"),
            Self::Prompt { platform, word } => write!(f, "the prompt {word} on {platform}"),
            Self::File { agent, word } => write!(f, "the file {word}, which agent {agent} fetched"),
        }
    }
}

/// The numbers of late and of lost ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sorted {
    pub(super) late: u64,
    pub(super) lost: u64,
}

/// Waits until no entry, no send and no update is under way, at most for this time, and then sorts the missing ones. One
/// that arrived meanwhile is late.
pub(super) async fn sort(
    world: &World,
    notes: &Notes,
    missing: &[Missing],
    patience: Duration,
) -> Result<Sorted> {
    let deadline = Instant::now() + patience;
    let mut under_way = world.under_way()?;
    while under_way > 0 && Instant::now() < deadline {
        sleep(LOOK_EVERY).await;
        under_way = world.under_way()?;
    }
    let mut sorted = Sorted::default();
    for one in missing {
        if one.has_arrived(world, notes) {
            sorted.late += 1;
            ui::say(&format!("late: {one}"));
        } else {
            sorted.lost += 1;
            ui::say(&format!("lost: {one}; {}", one.trace(world)));
        }
    }
    if sorted.lost > 0 {
        ui::say(&format!("{under_way} under way; refusals: {}", world.refusals()?));
    }
    Ok(sorted)
}

impl Missing {
    fn has_arrived(&self, world: &World, notes: &Notes) -> bool {
        match self {
            Self::Event { .. } => self.is_noted(notes),
            Self::Prompt { platform: "discord", word } => discord_prompt(world, word).is_some(),
            Self::Prompt { word, .. } => telegram_prompt(world, word).is_some(),
            Self::File { .. } => false,
        }
    }

    /// Returns true if the agent of this event received it.
    fn is_noted(&self, notes: &Notes) -> bool {
        let Self::Event { agent, kind, word } = self else { return false };
        let is_it = |(by, told): &(usize, Told)| {
            (by, told.kind(), told.word()) == (agent, *kind, word.as_str())
        };
        notes.all().iter().any(is_it)
    }

    /// Returns the platform's view: its interactions with that word, and the desk's answers to them.
    fn trace(&self, world: &World) -> String {
        let (Self::Event { word, .. } | Self::Prompt { word, .. } | Self::File { word, .. }) = self;
        let interactions = world.discord.interactions();
        let about = interactions.iter().filter(|one| one.told.to_string().contains(word));
        let answers = about.map(|one| {
            let person = &one.told["member"]["user"]["id"];
            let text = one.said.first().map(|said| said["content"].to_string());
            format!("{person} got {:?} {}", one.answered, text.unwrap_or_default())
        });
        format!("interactions: [{}]", answers.collect::<Vec<_>>().join(", "))
    }
}

/// Returns the id of the message with a prompt on Discord.
pub(super) fn discord_prompt(world: &World, text: &str) -> Option<u64> {
    let messages = world.discord.messages(ROOM);
    let asks = |one: &&Value| one["content"] == text && one["author"]["bot"] == true;
    messages.iter().find(asks).and_then(|one| one["id"].as_str()?.parse().ok())
}

/// Returns the message with a prompt on Telegram.
pub(super) fn telegram_prompt(world: &World, text: &str) -> Option<Value> {
    let asks = |result: &Value| result["reply_markup"]["inline_keyboard"].is_array();
    let sent = world.telegram.calls().into_iter().filter_map(|call| call.answered.ok());
    sent.into_iter().find(|one| asks(one) && one.to_string().contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_event_is_named_and_counts_as_late_once_its_agent_has_it() {
        let missing = Missing::Event { agent: 2, kind: "press", word: "w7".to_owned() };
        assert_eq!(missing.to_string(), "the press w7 for agent 2");
        let notes = Notes::default();
        let others = [(1, Told::Press("w7".to_owned())), (2, Told::Text("w7".to_owned()))];
        notes.all().extend(others);
        assert!(!missing.is_noted(&notes), "it is lost");

        notes.all().push((2, Told::Press("w7".to_owned())));
        assert!(missing.is_noted(&notes), "it is late");
    }
}

//! Runs agents that answer each message in its own way, and record it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use nightdesk_sdk::{
    Agent, Event, FollowUp, Message, Op, PromptOption, SendError, SessionKey, Settings,
};

use super::who::{self, ALL};
use super::world::World;

/// Kind of the capability that a Discord interaction lends.
pub(super) const LENT: &str = "discord.interaction_token";

/// An event that an agent received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Text(String),
    /// The word of the prompt whose button was pressed.
    Press(String),
    /// The word of a file, and its URL.
    File(String, String),
    /// The word of a command, and its session.
    Command(String, String),
}

impl Told {
    /// Returns the word of the event.
    pub(super) fn word(&self) -> &str {
        let (Self::Text(word) | Self::Press(word) | Self::File(word, _) | Self::Command(word, _)) =
            self;
        word
    }

    /// Returns the name of the kind of event.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Press(_) => "press",
            Self::File(..) => "file",
            Self::Command(..) => "command",
        }
    }
}

/// All received events, with the receiving agents.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<(usize, Told)>>>);

impl Notes {
    pub(super) fn all(&self) -> MutexGuard<'_, Vec<(usize, Told)>> {
        // The list is consistent at every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, agent: usize, told: Told) {
        self.all().push((agent, told));
    }
}

/// Makes an agent dial in. Its name is also its gateway's id.
pub(super) fn dial(world: &World, agent: usize, notes: &Notes) -> Result<Agent> {
    let url = format!("http://{}", world.nodes[0].address());
    let handle = who::handle(ALL[agent].bot);
    let settings = Settings::new(url, ALL[agent].name, world.secrets[agent].as_str())
        .speaking_for("discord", &*handle)
        .speaking_for("telegram", handle);
    let notes = notes.clone();
    let take = move |event| take(event, agent, notes.clone());
    Agent::connect(settings, take).context("an agent's settings are not right")
}

async fn take(event: Event, agent: usize, notes: Notes) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    let content = &message.content.message;
    if let Some(pressed) = &content.prompt_response {
        notes.add(agent, Told::Press(pressed.prompt_id.clone()));
        return Ok(());
    }
    let text = message.text().to_owned();
    let Some((_, word)) = who::words(&text).next() else { return Ok(()) };
    let word = word.to_owned();
    if let Some(file) = content.media.first() {
        notes.add(agent, Told::File(word.clone(), file.url.clone()));
    } else if text.starts_with("/ask") {
        let session = message.turn.session_key();
        notes.add(agent, Told::Command(word.clone(), session.as_str().to_owned()));
        return message.turn.desk().send_follow_up(by_lent(session, &word)).await.map(drop);
    } else {
        notes.add(agent, Told::Text(word.clone()));
    }
    answer(&message, word).await
}

/// Sends a prompt with a button if the word asks for it, and otherwise a plain reply.
async fn answer(message: &Message, word: String) -> Result<(), SendError> {
    if !who::is_of(&word, "prompt") {
        return message.reply(word).await.map(drop);
    }
    let yes = PromptOption { id: "yes".to_owned(), label: "Yes".to_owned(), style: None };
    let prompt = Op::Prompt {
        content: word.clone(),
        prompt_kind: "choice".to_owned(),
        prompt_id: word,
        options: vec![yes],
        reply_to: None,
        timeout_s: None,
    };
    message.turn.desk().send_outbound(&message.place(), prompt).await.map(drop)
}

/// Returns an answer that uses the capability of a session.
pub(super) fn by_lent(session_key: &SessionKey, word: &str) -> FollowUp {
    FollowUp {
        session_key: session_key.clone(),
        kind: LENT.to_owned(),
        content: word.to_owned(),
        metadata: serde_json::Map::new(),
    }
}

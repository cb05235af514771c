//! Plays rounds in which all people write, command, press buttons and send files, and agents try forbidden actions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use nightdesk_fake_discord::FakeDiscord;
use nightdesk_sdk::{Agent, Place, SessionKey};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::agents::{Notes, Told, by_lent, dial};
use super::fetch::fetch;
use super::missing::{Missing, discord_prompt, telegram_prompt};
use super::who::{self, ALL, GROUP, OWNERS, ROOM};
use super::world::World;
use crate::ui;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One round in this many has a message in the group: a bot may answer there twenty times a minute.
const GROUP_EVERY: usize = 3;

/// Time within which Discord shows an answer to an interaction. It waits three seconds for the desk.
const ANSWERED_WITHIN: Duration = Duration::from_secs(4);

/// Number of times that a person repeats a command or a press that the desk did not answer in time. Discord does not
/// repeat it, and shows the person that it failed.
const REPEATS_MAX: usize = 2;

/// Text of a forbidden message.
pub(super) const PRIED: &str = "pried";

/// The play.
pub(super) struct Play<'w> {
    world: &'w World,
    agents: Vec<Agent>,
    patience: Duration,
    pub(super) notes: Notes,
    /// Events and messages that did not arrive in time.
    missing: Mutex<Vec<Missing>>,
    /// Number of files that an agent got without their event.
    pub(super) stolen: AtomicU64,
}

impl<'w> Play<'w> {
    /// Makes all agents dial in.
    pub(super) fn begin(world: &'w World, patience: Duration) -> Result<Self> {
        let notes = Notes::default();
        let dialled = (0..ALL.len()).map(|agent| dial(world, agent, &notes));
        let (missing, stolen) = (Mutex::default(), AtomicU64::default());
        let agents = dialled.collect::<Result<_>>()?;
        Ok(Self { world, agents, patience, notes, missing, stolen })
    }

    /// Plays one round: all people do everything once, concurrently.
    pub(super) async fn round(&self, round: usize) {
        let everybody = (0..ALL.len()).map(|agent| self.turn(agent, round));
        futures_util::future::join_all(everybody).await;
    }

    /// Returns the events and messages that did not arrive in time.
    pub(super) fn missing(&self) -> Vec<Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hangs all agents up.
    pub(super) async fn hang_up(&mut self) {
        for agent in self.agents.drain(..) {
            agent.disconnect().await;
        }
    }

    async fn turn(&self, agent: usize, round: usize) {
        let word = |kind: &str| who::word(agent, round, kind);
        self.says_on_discord(agent, &word("say"));
        self.says_on_telegram(agent, json!({ "text": word("write") }));
        if round.is_multiple_of(GROUP_EVERY) {
            self.says_in_group(agent, &word("group"));
            self.finds(agent, "text", &word("group")).await;
        }
        self.finds(agent, "text", &word("say")).await;
        self.finds(agent, "text", &word("write")).await;
        self.commands(agent, &word("ask")).await;
        self.presses_on_discord(agent, &word("d.prompt")).await;
        self.presses_on_telegram(agent, &word("t.prompt")).await;
        self.sends_a_file(agent, &word("file")).await;
    }

    fn says_on_discord(&self, agent: usize, word: &str) {
        self.world.discord.say(who::on_discord(agent), ROOM, word);
    }

    fn says_on_telegram(&self, agent: usize, said: Value) {
        let mut message = said;
        message["from"] = person(agent);
        let token = who::telegram_token(ALL[agent].bot);
        self.world.telegram.happens(&token, json!({ "message": message }));
    }

    /// Sends a message to the group, in which all bots are.
    fn says_in_group(&self, agent: usize, word: &str) {
        let message = json!({ "chat": { "id": GROUP }, "from": person(agent), "text": word });
        for bot in 0..OWNERS.len() {
            let token = who::telegram_token(bot);
            self.world.telegram.happens(&token, json!({ "message": message.clone() }));
        }
    }

    /// Checks that only the agent of a command can answer it with the lent capability.
    async fn commands(&self, agent: usize, word: &str) {
        let options = json!([{ "type": 3, "name": "text", "value": word }]);
        let (bot, person) = (who::bot_id(ALL[agent].bot), who::on_discord(agent));
        let discord = &self.world.discord;
        self.interacts(word, || discord.command(bot, person, ROOM, ("ask", &options))).await;
        let found = self.finds(agent, "command", word).await;
        let Some(Told::Command(_, session)) = found else { return };
        let Some(session) = SessionKey::new(&session) else { return };
        for other in self.others(agent) {
            let follow_up = by_lent(&session, &format!("{PRIED} {word}"));
            drop(other.desk().send_follow_up(follow_up).await);
        }
        for other in self.others(agent) {
            let place = Place::chat("telegram", who::on_telegram(agent).to_string());
            drop(other.desk().send(&place, format!("{PRIED} {word}")).await);
        }
    }

    /// Makes the agent send a prompt, whose button its person and all other people press.
    async fn presses_on_discord(&self, agent: usize, word: &str) {
        self.says_on_discord(agent, word);
        let discord = &self.world.discord;
        let missing = Missing::Prompt { platform: "discord", word: word.to_owned() };
        let asked = || discord_prompt(self.world, word);
        let Some(message) = self.until(missing, asked).await else { return };
        let button = format!("hp1:{word}:yes");
        let press = |person| discord.press(who::on_discord(person), ROOM, message, &button);
        self.interacts(word, || press(agent)).await;
        for person in (1..ALL.len()).map(|next| (agent + next) % ALL.len()) {
            press(person);
        }
        self.finds(agent, "press", word).await;
    }

    async fn presses_on_telegram(&self, agent: usize, word: &str) {
        self.says_on_telegram(agent, json!({ "text": word }));
        let telegram = &self.world.telegram;
        let missing = Missing::Prompt { platform: "telegram", word: word.to_owned() };
        let asked = || telegram_prompt(self.world, word);
        let Some(message) = self.until(missing, asked).await else { return };
        let token = who::telegram_token(ALL[agent].bot);
        for person in [agent, (agent + 1) % ALL.len()] {
            let press = json!({
                "id": format!("{word}.{person}"), "from": self::person(person), "message": message,
                "chat_instance": "1", "data": format!("hp1:{word}:yes"),
            });
            telegram.happens(&token, json!({ "callback_query": press }));
        }
        self.finds(agent, "press", word).await;
    }

    /// Checks that only the agent with a file's event can fetch the file.
    async fn sends_a_file(&self, agent: usize, word: &str) {
        let file = json!({ "file_id": word, "file_unique_id": word, "file_name": "a.txt" });
        self.says_on_telegram(agent, json!({ "caption": word, "document": file }));
        let found = self.finds(agent, "file", word).await;
        let Some(Told::File(_, url)) = found else { return };
        let node = self.world.nodes[1].address();
        for asker in 0..ALL.len() {
            let token = self.world.token(asker);
            let given = fetch(node, &url, &token).await.unwrap_or_default().contains(word);
            match (asker == agent, given) {
                (true, false) => self.misses(Missing::File { agent, word: word.to_owned() }),
                (false, true) => drop(self.stolen.fetch_add(1, Ordering::Relaxed)),
                (true, true) | (false, false) => {}
            }
        }
    }

    fn others(&self, agent: usize) -> impl Iterator<Item = &Agent> {
        let others = self.agents.iter().enumerate().filter(move |(other, _)| *other != agent);
        others.map(|(_, other)| other)
    }

    /// Gives a command or presses a button, and repeats it if Discord shows no answer.
    async fn interacts(&self, word: &str, interact: impl Fn() -> u64) {
        for _ in 0..=REPEATS_MAX {
            let id = interact();
            let answered = |discord: &FakeDiscord| {
                discord.interactions().iter().any(|one| one.id == id && one.answered.is_some())
            };
            if self.world.discord.until(ANSWERED_WITHIN, answered).await {
                return;
            }
            ui::say(&format!("unanswered: {word}, interaction {id}"));
        }
    }

    /// Waits for an event of an agent.
    async fn finds(&self, agent: usize, kind: &'static str, word: &str) -> Option<Told> {
        self.until(Missing::Event { agent, kind, word: word.to_owned() }, || {
            let notes = self.notes.all();
            let is_it = |told: &Told| told.kind() == kind && told.word() == word;
            let found = notes.iter().find(|(by, told)| *by == agent && is_it(told));
            found.map(|(_, told)| told.clone())
        })
        .await
    }

    /// Waits for a result. If it does not come in time, it is noted as missing.
    async fn until<T>(&self, missing: Missing, found: impl Fn() -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + self.patience;
        while Instant::now() < deadline {
            if let Some(found) = found() {
                return Some(found);
            }
            sleep(LOOK_EVERY).await;
        }
        self.misses(missing);
        None
    }

    fn misses(&self, missing: Missing) {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(missing);
    }
}

fn person(agent: usize) -> Value {
    json!({ "id": who::on_telegram(agent), "is_bot": false, "first_name": ALL[agent].name })
}

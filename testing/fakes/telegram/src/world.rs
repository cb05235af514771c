//! Holds the state of the fake. None of its functions waits.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::fault::Fault;

/// Time of the fake's first message; each later one is a second later.
const FIRST_DATE: i64 = 1_800_000_000;

/// The number before that of the fake's first message. In a forum, a low number is the permanent topic.
const BEFORE_FIRST_MESSAGE: i64 = 100;

/// A recorded call.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// Token of the bot.
    pub token: String,
    /// Name of the method.
    pub method: String,
    /// The parameters.
    pub asked: Map<String, Value>,
    /// The response: a result, or a status and an error description.
    pub answered: Result<Value, (u16, String)>,
}

/// A bot.
#[derive(Debug, Default)]
pub(super) struct FakeBot {
    pub(super) id: i64,
    pub(super) username: String,
    /// Unconfirmed updates, the oldest first.
    pub(super) updates: VecDeque<(i64, Value)>,
    /// Confirmed updates, for the fault `Repeat`.
    pub(super) confirmed: Vec<(i64, Value)>,
    pub(super) next_update: i64,
    pub(super) webhook: Option<Webhook>,
    /// Number of polls: a newer poll ends the one before.
    pub(super) polls: u64,
}

/// Target of posted updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Webhook {
    pub(super) url: String,
    pub(super) secret: Option<String>,
    pub(super) last_error: Option<String>,
}

/// The whole state.
#[derive(Debug, Default)]
pub(super) struct World {
    bots: HashMap<String, FakeBot>,
    chats: HashMap<i64, Value>,
    /// People who blocked the bot.
    pub(super) blocked: HashSet<i64>,
    /// Unanswered button presses.
    presses: HashSet<String>,
    messages: BTreeMap<(i64, i64), Value>,
    messages_made: i64,
    pub(super) faults: Vec<Fault>,
    pub(super) calls: Vec<Called>,
}

impl World {
    pub(super) fn add_bot(&mut self, token: &str, username: &str) {
        let id = token.split_once(':').and_then(|(id, _)| id.parse().ok()).unwrap_or_default();
        let bot =
            FakeBot { id, username: username.to_owned(), next_update: 1, ..FakeBot::default() };
        self.bots.insert(token.to_owned(), bot);
    }

    pub(super) fn add_chat(&mut self, chat: Value) {
        self.chats.insert(chat["id"].as_i64().unwrap_or_default(), chat);
    }

    pub(super) fn bot(&self, token: &str) -> Option<&FakeBot> {
        self.bots.get(token)
    }

    pub(super) fn bot_mut(&mut self, token: &str) -> Option<&mut FakeBot> {
        self.bots.get_mut(token)
    }

    pub(super) fn tokens(&self) -> Vec<String> {
        let mut tokens: Vec<String> = self.bots.keys().cloned().collect();
        tokens.sort();
        tokens
    }

    pub(super) fn chat(&self, id: i64) -> Option<&Value> {
        self.chats.get(&id)
    }

    pub(super) fn message(&self, chat: i64, id: i64) -> Option<&Value> {
        self.messages.get(&(chat, id))
    }

    /// Stores a message. A missing number and time get defaults.
    pub(super) fn keep(&mut self, mut message: Value) -> Value {
        if message["message_id"].is_null() {
            self.messages_made += 1;
            message["message_id"] = json!(BEFORE_FIRST_MESSAGE + self.messages_made);
        }
        if message["date"].is_null() {
            message["date"] = json!(FIRST_DATE + self.messages_made);
        }
        let place = (message["chat"]["id"].as_i64(), message["message_id"].as_i64());
        if let (Some(chat), Some(id)) = place {
            self.messages.insert((chat, id), message.clone());
        }
        message
    }

    /// Answers a button press. Returns true if it was waiting.
    pub(super) fn let_go(&mut self, press: &str) -> bool {
        self.presses.remove(press)
    }

    pub(super) fn forget(&mut self, chat: i64, id: i64) -> bool {
        self.messages.remove(&(chat, id)).is_some()
    }

    /// Adds an update. Returns its number.
    pub(super) fn happens(&mut self, token: &str, mut update: Value) -> i64 {
        for kind in ["message", "channel_post"] {
            if let Some(message) = update.get(kind).cloned() {
                let message = self.placed(message);
                update[kind] = self.keep(message);
            }
        }
        if let Some(id) = update["callback_query"]["id"].as_str() {
            self.presses.insert(id.to_owned());
        }
        let Some(bot) = self.bots.get_mut(token) else { return 0 };
        let number = bot.next_update;
        bot.next_update += 1;
        update["update_id"] = json!(number);
        bot.updates.push_back((number, update));
        number
    }

    /// Puts a message into the chat it names, or else into its author's private chat.
    fn placed(&mut self, mut message: Value) -> Value {
        if message["chat"].is_null() {
            let mut chat = message["from"].clone();
            chat["type"] = json!("private");
            message["chat"] = chat;
        }
        let id = message["chat"]["id"].as_i64().unwrap_or_default();
        match self.chats.get(&id) {
            Some(chat) => message["chat"] = chat.clone(),
            None => self.add_chat(message["chat"].clone()),
        }
        message
    }

    /// Sets the number of a bot's next update.
    pub(super) fn renumber(&mut self, token: &str, next: i64) {
        if let Some(bot) = self.bots.get_mut(token) {
            bot.next_update = next;
        }
    }
}

impl FakeBot {
    /// Returns the bot's user object.
    pub(super) fn user(&self) -> Value {
        json!({
            "id": self.id, "is_bot": true, "first_name": self.username, "username": self.username,
        })
    }

    /// Returns updates from a number on, and confirms earlier ones. A number far ahead of all existing ones is from
    /// before a restart of the numbering, and confirms nothing.
    pub(super) fn updates_from(&mut self, offset: i64, limit: usize) -> Vec<Value> {
        const AHEAD_MAX: i64 = 10;
        let is_of_old = offset >= self.next_update + AHEAD_MAX;
        if offset < 0 {
            let kept = usize::try_from(-offset).unwrap_or(usize::MAX);
            let gone = self.updates.len().saturating_sub(kept);
            self.confirmed.extend(self.updates.drain(..gone));
        } else if !is_of_old {
            let gone = self.updates.iter().take_while(|(number, _)| *number < offset).count();
            self.confirmed.extend(self.updates.drain(..gone));
        }
        self.updates.iter().take(limit).map(|(_, update)| update.clone()).collect()
    }
}

//! Creates, edits and deletes messages of people and bots.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};

use super::{World, number, things};

/// Type of a message that replies to another.
const REPLY: u64 = 19;

/// Flag of a message that only one person sees.
const EPHEMERAL: u64 = 1 << 6;

impl World {
    /// Creates a message of a person: `{"content": …, "files": [{"name": …, "text": …}], "message_reference": …}`.
    pub(crate) fn say(&mut self, author: u64, channel: u64, said: &Value) -> Option<u64> {
        self.channels.get(&channel)?;
        let mut message = said.clone();
        let files = said["files"].as_array().cloned().unwrap_or_default();
        let kept = files.iter().map(|file| self.keep_sent_file(channel, file));
        message["attachments"] = kept.collect();
        if let Some(message) = message.as_object_mut() {
            message.remove("files");
        }
        let mentions = mentioned(said["content"].as_str().unwrap_or_default(), "<@");
        message["mentions"] = mentions.into_iter().map(|user| self.user(user)).collect();
        number(&self.post(author, channel, message)["id"])
    }

    fn keep_sent_file(&mut self, channel: u64, file: &Value) -> Value {
        let bytes = match file["base64"].as_str() {
            Some(text) => STANDARD.decode(text).unwrap_or_default(),
            None => file["text"].as_str().unwrap_or_default().as_bytes().to_vec(),
        };
        let kind = file["kind"].as_str().unwrap_or("text/plain");
        self.keep_file(channel, file["name"].as_str().unwrap_or("file"), kind, Bytes::from(bytes))
    }

    /// Stores a message and dispatches it. Missing fields get defaults.
    pub(crate) fn post(&mut self, author: u64, channel: u64, mut message: Value) -> Value {
        let id = self.new_id();
        let content = message["content"].as_str().unwrap_or_default().to_owned();
        message["id"] = json!(id.to_string());
        message["channel_id"] = json!(channel.to_string());
        message["author"] = self.user(author);
        message["timestamp"] = json!(self.date());
        message["mention_roles"] = mentioned(&content, "<@&").iter().map(u64::to_string).collect();
        let answered = number(&message["message_reference"]["message_id"]);
        if let Some(answered) = answered {
            message["type"] = json!(REPLY);
            message["message_reference"]["channel_id"] = json!(channel.to_string());
            message["referenced_message"] = self.told_of(channel, answered);
        }
        let message = things::message(&message);
        self.messages.insert((channel, id), message.clone());
        if let Some(place) = self.channels.get_mut(&channel).filter(|_| !is_ephemeral(&message)) {
            place["last_message_id"] = json!(id.to_string());
        }
        if self.is_thread(channel) {
            self.set_thread_member(channel, author, true);
        }
        self.tell(channel, "MESSAGE_CREATE", &message);
        message
    }

    /// Returns a referenced message, without its own reference.
    fn told_of(&self, channel: u64, id: u64) -> Value {
        let mut message = self.messages.get(&(channel, id)).cloned().unwrap_or_default();
        if let Some(message) = message.as_object_mut() {
            message.remove("referenced_message");
        }
        message
    }

    /// Changes a message.
    pub(crate) fn edit(&mut self, channel: u64, id: u64, changes: &Value) -> Option<Value> {
        let date = self.date();
        let message = self.messages.get_mut(&(channel, id))?;
        *message = things::filled(changes, message.clone());
        if changes.get("content").is_some() {
            message["edited_timestamp"] = json!(date);
        }
        let message = message.clone();
        self.tell(channel, "MESSAGE_UPDATE", &message);
        Some(message)
    }

    pub(crate) fn delete(&mut self, channel: u64, id: u64) -> Option<()> {
        self.messages.remove(&(channel, id))?;
        self.reactions.remove(&(channel, id));
        let mut gone = json!({ "id": id.to_string(), "channel_id": channel.to_string() });
        self.place_in_guild(channel, &mut gone);
        self.happens_in(channel, "MESSAGE_DELETE", &gone);
        Some(())
    }

    /// Dispatches a message: over the gateway it has its guild and its author's membership.
    fn tell(&mut self, channel: u64, event: &str, message: &Value) {
        if is_ephemeral(message) {
            return;
        }
        let mut told = message.clone();
        self.place_in_guild(channel, &mut told);
        let author = number(&message["author"]["id"]).unwrap_or_default();
        let guild = number(&told["guild_id"]).unwrap_or_default();
        if let Some(member) = self.member(guild, author) {
            let mut member = member.clone();
            if let Some(member) = member.as_object_mut() {
                member.remove("user");
            }
            told["member"] = member;
        }
        self.happens_in(channel, event, &told);
    }

    pub(super) fn place_in_guild(&self, channel: u64, what: &mut Value) {
        let guild = self.channels.get(&channel).map(|place| &place["guild_id"]);
        if let Some(guild) = guild.filter(|guild| !guild.is_null()) {
            what["guild_id"] = guild.clone();
        }
    }
}

/// Returns true if only one person sees the message. It is not dispatched and not found.
pub(crate) fn is_ephemeral(message: &Value) -> bool {
    number(&message["flags"]).unwrap_or_default() & EPHEMERAL != 0
}

/// Returns the ids that a text mentions, after `<@` for people and `<@&` for roles.
pub(crate) fn mentioned(text: &str, begin: &str) -> Vec<u64> {
    let ids = text.split(begin).skip(1).filter_map(|after| after.split_once('>')?.0.parse().ok());
    let mut ids: Vec<u64> = ids.collect();
    ids.dedup();
    ids
}

//! Opens and changes threads, and manages their members.

use serde_json::{Value, json};

use super::permissions::VIEW_CHANNEL;
use super::{World, number, things};

/// Type of a thread that only its members and thread managers see.
pub(crate) const PRIVATE_THREAD: u64 = 12;

/// Flag of a message under which a thread was opened.
const HAS_THREAD: u64 = 1 << 5;

const GUILD_MEMBERS: u64 = 1 << 1;

impl World {
    /// Opens a thread in a channel, under a message if it is named.
    pub(crate) fn open_thread(
        &mut self,
        parent: u64,
        owner: u64,
        message: Option<u64>,
        thread: &Value,
    ) -> Option<Value> {
        let guild = number(&self.channels.get(&parent)?["guild_id"])?;
        let id = message.unwrap_or_else(|| self.new_id());
        let mut thread = things::thread(thread, &self.date());
        thread["id"] = json!(id.to_string());
        thread["guild_id"] = json!(guild.to_string());
        thread["parent_id"] = json!(parent.to_string());
        thread["owner_id"] = json!(owner.to_string());
        thread["people"] = json!([owner.to_string()]);
        self.channels.insert(id, thread);
        let thread = self.place(id)?;
        self.tell_of_thread(id);
        if let Some(message) = message {
            self.edit(parent, message, &json!({ "flags": HAS_THREAD, "thread": thread }));
        }
        Some(thread)
    }

    fn tell_of_thread(&mut self, id: u64) {
        let mut told = self.place(id).unwrap_or_default();
        told["newly_created"] = json!(true);
        self.happens_in(id, "THREAD_CREATE", &told);
    }

    /// Changes a thread: its name, or its archived or locked state.
    pub(crate) fn change_thread(&mut self, id: u64, changes: &Value) -> Option<Value> {
        let thread = self.channels.get_mut(&id)?;
        if let Some(name) = changes["name"].as_str() {
            thread["name"] = json!(name);
        }
        for name in ["archived", "locked", "auto_archive_duration"] {
            if !changes[name].is_null() {
                thread["thread_metadata"][name] = changes[name].clone();
            }
        }
        let thread = self.place(id)?;
        self.happens_in(id, "THREAD_UPDATE", &thread);
        Some(thread)
    }

    pub(crate) fn is_thread(&self, channel: u64) -> bool {
        self.channels.get(&channel).is_some_and(|place| !place["thread_metadata"].is_null())
    }

    /// Adds a person to a thread, or removes them.
    pub(crate) fn set_thread_member(&mut self, thread: u64, user: u64, is_in: bool) -> Option<()> {
        let mut people = self.people(thread);
        if !self.is_thread(thread) || people.contains(&user) == is_in {
            return self.is_thread(thread).then_some(());
        }
        people.retain(|one| *one != user);
        people.extend(is_in.then_some(user));
        let place = self.channels.get_mut(&thread)?;
        place["people"] = people.iter().map(u64::to_string).collect();
        place["member_count"] = json!(people.len());
        if is_in && place["type"] == json!(PRIVATE_THREAD) && self.is_bot(user) {
            self.tell_of_thread(thread);
        }
        self.tell_of_member(thread, user, is_in)
    }

    /// Dispatches a change of members to bots with the intent, and to the affected bot in any case.
    fn tell_of_member(&mut self, thread: u64, user: u64, is_in: bool) -> Option<()> {
        let place = self.channels.get(&thread)?;
        let guild = number(&place["guild_id"])?;
        let mut told = json!({
            "id": thread.to_string(), "guild_id": place["guild_id"],
            "member_count": place["member_count"],
        });
        if is_in {
            told["added_members"] = json!([self.thread_member(thread, user)]);
        } else {
            told["removed_member_ids"] = json!([user.to_string()]);
        }
        for (session, bot) in self.hearers(Some(guild), 0) {
            let intents = self.gateway.session(&session).map_or(0, |session| session.intents);
            let sees = intents & GUILD_MEMBERS != 0 && self.may(bot, thread, VIEW_CHANNEL);
            if sees || bot == user {
                self.dispatch(&session, "THREAD_MEMBERS_UPDATE", &told);
            }
        }
        Some(())
    }

    /// Returns a thread member in the API's format.
    pub(crate) fn thread_member(&self, thread: u64, user: u64) -> Value {
        json!({
            "id": thread.to_string(), "user_id": user.to_string(), "flags": 0,
            "join_timestamp": self.date(),
        })
    }
}

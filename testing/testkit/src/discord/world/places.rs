//! Places: channels, threads and direct channels.

use serde_json::{Value, json};

use super::{World, number, things};

impl World {
    /// Enters a channel of a guild, or changes it.
    pub(in crate::discord) fn set_channel(&mut self, guild: u64, channel: &Value) -> Option<u64> {
        let id = number(&channel["id"])?;
        self.guilds.get(&guild)?;
        let before = self.channels.get(&id).cloned();
        let channel = things::filled(channel, before.clone().unwrap_or(json!({})));
        let channel = things::channel(&channel, guild);
        self.channels.insert(id, channel.clone());
        let event = if before.is_some() { "CHANNEL_UPDATE" } else { "CHANNEL_CREATE" };
        self.happens_to(guild, event, &channel);
        Some(id)
    }

    /// Takes a channel or a thread away.
    pub(in crate::discord) fn drop_channel(&mut self, id: u64) -> Option<()> {
        let channel = self.channels.remove(&id)?;
        let guild = number(&channel["guild_id"])?;
        let is_thread = !channel["thread_metadata"].is_null();
        let event = if is_thread { "THREAD_DELETE" } else { "CHANNEL_DELETE" };
        self.happens_to(guild, event, &channel);
        Some(())
    }

    /// Opens a thread in a channel, under a message if it is named.
    pub(in crate::discord) fn open_thread(
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
        self.channels.insert(id, thread.clone());
        let mut told = thread.clone();
        told["newly_created"] = json!(true);
        self.happens_in(id, "THREAD_CREATE", &told);
        if let Some(message) = message {
            self.edit(parent, message, &json!({ "flags": 32, "thread": thread }));
        }
        Some(thread)
    }

    /// Changes a thread: its name, or whether it is archived or locked.
    pub(in crate::discord) fn change_thread(&mut self, id: u64, changes: &Value) -> Option<Value> {
        let thread = self.channels.get_mut(&id)?;
        if let Some(name) = changes["name"].as_str() {
            thread["name"] = json!(name);
        }
        for name in ["archived", "locked", "auto_archive_duration"] {
            if !changes[name].is_null() {
                thread["thread_metadata"][name] = changes[name].clone();
            }
        }
        let thread = thread.clone();
        self.happens_in(id, "THREAD_UPDATE", &thread);
        Some(thread)
    }

    /// The direct channel of a bot and somebody, which is made if there is none.
    pub(in crate::discord) fn direct(&mut self, bot: u64, user: u64) -> u64 {
        let people = json!([bot.to_string(), user.to_string()]);
        let known = self.channels.iter().find(|(_, place)| place["people"] == people);
        if let Some((id, _)) = known {
            return *id;
        }
        let id = self.new_id();
        let direct = json!({
            "id": id.to_string(), "type": 1, "last_message_id": null, "flags": 0,
            "recipients": [self.user(user)], "people": people,
        });
        self.channels.insert(id, direct);
        id
    }

    /// The channel as it is told.
    pub(in crate::discord) fn place(&self, id: u64) -> Option<Value> {
        let mut place = self.channels.get(&id)?.clone();
        if let Some(place) = place.as_object_mut() {
            place.remove("people");
        }
        Some(place)
    }

    /// The channels and threads of a guild.
    pub(in crate::discord) fn places_of(&self, guild: u64) -> impl Iterator<Item = Value> {
        let places = self.channels.values();
        places.filter(move |place| number(&place["guild_id"]) == Some(guild)).cloned()
    }
}

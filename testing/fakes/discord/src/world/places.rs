//! Stores channels and direct channels.

use serde_json::{Value, json};

use super::{World, number, things};

impl World {
    /// Creates or changes a channel of a guild.
    pub(crate) fn set_channel(&mut self, guild: u64, channel: &Value) -> Option<u64> {
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

    /// Removes a channel or a thread.
    pub(crate) fn drop_channel(&mut self, id: u64) -> Option<()> {
        let channel = self.place(id)?;
        self.channels.remove(&id);
        let guild = number(&channel["guild_id"])?;
        let is_thread = !channel["thread_metadata"].is_null();
        let event = if is_thread { "THREAD_DELETE" } else { "CHANNEL_DELETE" };
        self.happens_to(guild, event, &channel);
        Some(())
    }

    /// Returns the direct channel of a bot and a person, and creates it if there is none.
    pub(crate) fn direct(&mut self, bot: u64, user: u64) -> u64 {
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

    pub(crate) fn is_direct(&self, channel: u64) -> bool {
        self.channels.get(&channel).is_some_and(|place| place["guild_id"].is_null())
    }

    /// Returns the channel in the API's format.
    pub(crate) fn place(&self, id: u64) -> Option<Value> {
        let mut place = self.channels.get(&id)?.clone();
        if let Some(place) = place.as_object_mut() {
            place.remove("people");
        }
        Some(place)
    }

    /// Returns the channels and threads of a guild.
    pub(crate) fn places_of(&self, guild: u64) -> impl Iterator<Item = Value> {
        let places = self.channels.iter();
        let its = places.filter(move |(_, place)| number(&place["guild_id"]) == Some(guild));
        its.filter_map(|(id, _)| self.place(*id))
    }
}

//! Stores the reactions of people and bots to messages.

use serde_json::json;

use super::{World, number};

impl World {
    /// Adds or removes a reaction of a user.
    pub(crate) fn react(
        &mut self,
        user: u64,
        (channel, id): (u64, u64),
        emoji: &str,
        is_added: bool,
    ) -> Option<()> {
        let author = self.messages.get(&(channel, id))?["author"]["id"].clone();
        let reactions = self.reactions.entry((channel, id)).or_default();
        let one = (emoji.to_owned(), user);
        let is_news = if is_added { reactions.insert(one) } else { reactions.remove(&one) };
        if !is_news {
            return Some(());
        }
        let mut what = json!({
            "user_id": user.to_string(), "channel_id": channel.to_string(),
            "message_id": id.to_string(), "emoji": { "id": null, "name": emoji },
            "burst": false, "type": 0,
        });
        self.place_in_guild(channel, &mut what);
        if is_added {
            what["message_author_id"] = author;
            what["burst_colors"] = json!([]);
        }
        let guild = number(&what["guild_id"]);
        if let Some(member) = guild.and_then(|guild| self.member(guild, user)).filter(|_| is_added)
        {
            what["member"] = member.clone();
        }
        let event = if is_added { "MESSAGE_REACTION_ADD" } else { "MESSAGE_REACTION_REMOVE" };
        self.happens_in(channel, event, &what);
        Some(())
    }
}

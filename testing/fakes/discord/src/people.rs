//! Executes the actions of people for a test, and returns the resulting state.

use serde_json::{Value, json};

use super::{FakeDiscord, Mark};

impl FakeDiscord {
    /// Writes in a channel as a person. Returns the message's id.
    pub fn say(&self, user: u64, channel: u64, text: &str) -> u64 {
        self.send(user, channel, &json!({ "content": text }))
    }

    /// Writes a message with all its parts: `content`, `files` with `name` and `text` or `base64`, `message_reference`.
    pub fn send(&self, user: u64, channel: u64, said: &Value) -> u64 {
        self.shared.change(|world| world.say(user, channel, said)).expect("a channel")
    }

    /// Writes a message. Returns its position in the bot's events, or the beginning of the next session if there is
    /// none.
    pub fn say_marked(&self, user: u64, channel: u64, text: &str) -> Mark {
        let said = json!({ "content": text });
        self.shared.change(|world| {
            world.say(user, channel, &said).expect("a channel");
            world.gateway.stands_at()
        })
    }

    /// Changes the text of a message.
    pub fn edit(&self, channel: u64, message: u64, text: &str) {
        let changes = json!({ "content": text });
        self.shared.change(|world| world.edit(channel, message, &changes)).expect("a message");
    }

    /// Deletes a message.
    pub fn delete(&self, channel: u64, message: u64) {
        self.shared.change(|world| world.delete(channel, message)).expect("a message");
    }

    /// Reacts to a message as a person.
    pub fn react(&self, user: u64, channel: u64, message: u64, emoji: &str) {
        let reacted =
            self.shared.change(|world| world.react(user, (channel, message), emoji, true));
        reacted.expect("a message");
    }

    /// Removes a reaction of a person.
    pub fn unreact(&self, user: u64, channel: u64, message: u64, emoji: &str) {
        let at = (channel, message);
        self.shared.change(|world| world.react(user, at, emoji, false)).expect("a message");
    }

    /// Presses a button as a person. Returns the interaction's id.
    pub fn press(&self, user: u64, channel: u64, message: u64, custom_id: &str) -> u64 {
        let pressed = self.shared.change(|world| world.press(user, (channel, message), custom_id));
        pressed.expect("a message of a bot")
    }

    /// Gives a command to a bot as a person, with options in Discord's format. Returns the interaction's id.
    pub fn command(&self, bot: u64, user: u64, channel: u64, command: (&str, &Value)) -> u64 {
        self.shared.change(|world| world.command(bot, user, channel, command)).expect("a channel")
    }

    /// Returns the emoji on a message, with their authors.
    pub fn reactions(&self, channel: u64, message: u64) -> Vec<(String, u64)> {
        let world = self.shared.world();
        world.reactions.get(&(channel, message)).into_iter().flatten().cloned().collect()
    }

    /// Returns the names of a bot's commands in a guild, or of its global commands.
    pub fn commands(&self, bot: u64, guild: Option<u64>) -> Vec<String> {
        let world = self.shared.world();
        world
            .commands
            .get(&(bot, guild))
            .into_iter()
            .flat_map(|known| known.keys().cloned())
            .collect()
    }

    /// Returns the current state of a message.
    pub fn message(&self, channel: u64, id: u64) -> Option<Value> {
        self.shared.world().messages.get(&(channel, id)).cloned()
    }

    /// Returns all messages of a channel, the oldest first.
    pub fn messages(&self, channel: u64) -> Vec<Value> {
        let world = self.shared.world();
        let all = world.messages.range((channel, 0)..=(channel, u64::MAX));
        all.map(|(_, message)| message.clone()).collect()
    }
}

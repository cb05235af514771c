//! People: what a test has them do, and what is there afterwards.

use serde_json::{Value, json};

use super::{FakeDiscord, Mark};

impl FakeDiscord {
    /// Somebody writes in a channel. Answers the message's id.
    pub fn say(&self, user: u64, channel: u64, text: &str) -> u64 {
        self.send(user, channel, &json!({ "content": text }))
    }

    /// The same with all a message may have: `content`, `files` with `name` and `text` or `base64`,
    /// `message_reference`.
    pub fn send(&self, user: u64, channel: u64, said: &Value) -> u64 {
        self.shared.change(|world| world.say(user, channel, said)).expect("a channel")
    }

    /// The same. Answers where it stands in what the bot is told; while it has no session, where the next begins.
    pub fn say_marked(&self, user: u64, channel: u64, text: &str) -> Mark {
        let said = json!({ "content": text });
        self.shared.change(|world| {
            world.say(user, channel, &said).expect("a channel");
            world.gateway.stands_at()
        })
    }

    /// Somebody changes the text of a message.
    pub fn edit(&self, channel: u64, message: u64, text: &str) {
        let changes = json!({ "content": text });
        self.shared.change(|world| world.edit(channel, message, &changes)).expect("a message");
    }

    /// A message is deleted.
    pub fn delete(&self, channel: u64, message: u64) {
        self.shared.change(|world| world.delete(channel, message)).expect("a message");
    }

    /// Somebody reacts to a message.
    pub fn react(&self, user: u64, channel: u64, message: u64, emoji: &str) {
        let reacted =
            self.shared.change(|world| world.react(user, (channel, message), emoji, true));
        reacted.expect("a message");
    }

    /// Somebody takes a reaction back.
    pub fn unreact(&self, user: u64, channel: u64, message: u64, emoji: &str) {
        let at = (channel, message);
        self.shared.change(|world| world.react(user, at, emoji, false)).expect("a message");
    }

    /// Somebody presses a button. Answers the interaction's id.
    pub fn press(&self, user: u64, channel: u64, message: u64, custom_id: &str) -> u64 {
        let pressed = self.shared.change(|world| world.press(user, (channel, message), custom_id));
        pressed.expect("a message of a bot")
    }

    /// Somebody gives a command to a bot, with options as Discord writes them. Answers the interaction's id.
    pub fn command(&self, bot: u64, user: u64, channel: u64, command: (&str, &Value)) -> u64 {
        self.shared.change(|world| world.command(bot, user, channel, command)).expect("a channel")
    }

    /// The emoji on a message, and whose they are.
    pub fn reactions(&self, channel: u64, message: u64) -> Vec<(String, u64)> {
        let world = self.shared.world();
        world.reactions.get(&(channel, message)).into_iter().flatten().cloned().collect()
    }

    /// The names of a bot's commands in a guild, or of those it has everywhere.
    pub fn commands(&self, bot: u64, guild: Option<u64>) -> Vec<String> {
        let world = self.shared.world();
        world
            .commands
            .get(&(bot, guild))
            .into_iter()
            .flat_map(|known| known.keys().cloned())
            .collect()
    }

    /// A message as it is now.
    pub fn message(&self, channel: u64, id: u64) -> Option<Value> {
        self.shared.world().messages.get(&(channel, id)).cloned()
    }

    /// All messages of a channel, the oldest first.
    pub fn messages(&self, channel: u64) -> Vec<Value> {
        let world = self.shared.world();
        let all = world.messages.range((channel, 0)..=(channel, u64::MAX));
        all.map(|(_, message)| message.clone()).collect()
    }
}

//! Enter: what a test has there be.

use serde_json::{Value, json};

use super::{FakeDiscord, sign, world};

impl FakeDiscord {
    /// Enters a bot, whose id is its application's too.
    pub fn bot(&self, token: &str, id: u64, name: &str) {
        self.shared.change(|world| world.add_bot(token, id, name));
    }

    /// So many sessions a bot may still begin today.
    pub fn starts_left(&self, token: &str, remaining: u64) {
        self.change_bot(token, |bot| bot.starts.remaining = remaining);
    }

    /// So many buckets of shards may identify at once.
    pub fn max_concurrency(&self, token: &str, buckets: u64) {
        self.change_bot(token, |bot| bot.starts.max_concurrency = buckets);
    }

    /// A bot is in so many guilds that it must be told over so many sockets at least.
    pub fn shards(&self, token: &str, shards: u64) {
        self.change_bot(token, |bot| bot.shards = shards);
    }

    /// These intents a bot may not ask for: it is closed with 4014.
    pub fn disallow_intents(&self, token: &str, intents: u64) {
        self.change_bot(token, |bot| bot.disallowed_intents = intents);
    }

    fn change_bot<T>(&self, token: &str, change: impl FnOnce(&mut world::Bot) -> T) -> T {
        self.shared.change(|world| change(world.bots.get_mut(token).expect("a bot")))
    }

    /// Enters somebody.
    pub fn person(&self, id: u64, name: &str) {
        self.shared.change(|world| world.add_person(id, name));
    }

    /// Enters a guild, as Discord describes one: `{"id": "41771983444115456", "name": "Home", "roles":
    /// […], "channels": [{"id": "…", "name": "general"}], "members": [{"user": {"id": "…"}, "roles": […]}]}`.
    /// What is missing is filled in.
    pub fn guild(&self, guild: &Value) {
        self.shared.change(|world| world.add_guild(guild)).expect("a guild has an id");
    }

    /// Has a bot join a guild.
    pub fn join(&self, token: &str, guild: u64) {
        self.shared.change(|world| world.join(token, guild)).expect("a bot and a guild");
    }

    /// Has a bot or somebody else leave a guild.
    pub fn leave(&self, guild: u64, user: u64) {
        self.shared.change(|world| world.leave(guild, user)).expect("a member");
    }

    /// Enters a role of a guild, or changes it.
    pub fn role(&self, guild: u64, role: &Value) {
        self.shared.change(|world| world.set_role(guild, role)).expect("a guild, and a role's id");
    }

    /// Enters a member of a guild, or changes their roles.
    pub fn member(&self, guild: u64, user: u64, roles: &[u64]) {
        let roles: Value = roles.iter().map(u64::to_string).collect();
        self.shared.change(|world| world.set_member(guild, user, &roles)).expect("a guild");
    }

    /// Enters a channel of a guild, or changes it, say its `permission_overwrites`.
    pub fn channel(&self, guild: u64, channel: &Value) {
        let set = self.shared.change(|world| world.set_channel(guild, channel));
        set.expect("a guild, and a channel's id");
    }

    /// Takes a channel or a thread away.
    pub fn drop_channel(&self, channel: u64) {
        self.shared.change(|world| world.drop_channel(channel)).expect("a channel");
    }

    /// Has somebody open a thread in a channel, under a message if it is named. Answers its id.
    pub fn thread(&self, parent: u64, owner: u64, message: Option<u64>, name: &str) -> u64 {
        let thread = json!({ "name": name });
        let opened = self.shared.change(|world| world.open_thread(parent, owner, message, &thread));
        opened.and_then(|thread| world::number(&thread["id"])).expect("a channel of a guild")
    }

    /// The same for a thread that only those see who are in it. Answers its id.
    pub fn private_thread(&self, parent: u64, owner: u64, name: &str) -> u64 {
        let thread = json!({ "name": name, "type": world::threads::PRIVATE_THREAD });
        let opened = self.shared.change(|world| world.open_thread(parent, owner, None, &thread));
        opened.and_then(|thread| world::number(&thread["id"])).expect("a channel of a guild")
    }

    /// Has somebody come into a thread, or leave it.
    pub fn thread_member(&self, thread: u64, user: u64, is_in: bool) {
        let set = self.shared.change(|world| world.set_thread_member(thread, user, is_in));
        set.expect("a thread");
    }

    /// The direct channel of a bot and somebody.
    pub fn direct(&self, bot: u64, user: u64) -> u64 {
        self.shared.change(|world| world.direct(bot, user))
    }

    /// Somebody takes no direct messages any more.
    pub fn block(&self, user: u64) {
        self.shared.change(|world| world.blocked.insert(user));
    }

    /// Ends the token of an interaction before its time.
    pub fn end_interaction(&self, interaction: u64) {
        self.shared.change(|world| {
            world.interactions.get_mut(&interaction).expect("an interaction").is_ended = true;
        });
    }

    /// Has interactions posted to this URL instead, signed, once it was tried as Discord tries it.
    pub async fn post_interactions(&self, token: &str, url: &str) -> Result<(), String> {
        let application = self.change_bot(token, |bot| {
            bot.interactions_url = Some(url.to_owned());
            bot.id
        });
        sign::try_endpoint(&self.shared, application).await
    }

    /// The key by which signatures of an application are checked, in hex.
    pub fn public_key(&self, token: &str) -> String {
        self.shared.world().bots.get(token).expect("a bot").key.public_hex()
    }
}

//! Creates bots, people, guilds and channels for a test.

use serde_json::{Value, json};

use super::{FakeDiscord, sign, world};

impl FakeDiscord {
    /// Creates a bot. Its id is also its application's.
    pub fn bot(&self, token: &str, id: u64, name: &str) {
        self.shared.change(|world| world.add_bot(token, id, name));
    }

    /// Sets the number of sessions that a bot may still begin today.
    pub fn starts_left(&self, token: &str, remaining: u64) {
        self.change_bot(token, |bot| bot.starts.remaining = remaining);
    }

    /// Sets the number of shard buckets that may identify at once.
    pub fn max_concurrency(&self, token: &str, buckets: u64) {
        self.change_bot(token, |bot| bot.starts.max_concurrency = buckets);
    }

    /// Sets the minimum number of shards of a bot, as for a bot in many guilds.
    pub fn shards(&self, token: &str, shards: u64) {
        self.change_bot(token, |bot| bot.shards = shards);
    }

    /// Sets the intents that a bot may not request: its socket is closed with 4014.
    pub fn disallow_intents(&self, token: &str, intents: u64) {
        self.change_bot(token, |bot| bot.disallowed_intents = intents);
    }

    fn change_bot<T>(&self, token: &str, change: impl FnOnce(&mut world::Bot) -> T) -> T {
        self.shared.change(|world| change(world.bots.get_mut(token).expect("a bot")))
    }

    /// Creates a person.
    pub fn person(&self, id: u64, name: &str) {
        self.shared.change(|world| world.add_person(id, name));
    }

    /// Creates a guild in Discord's format: `{"id": "41771983444115456", "name": "Home", "roles": […], "channels":
    /// [{"id": "…", "name": "general"}], "members": [{"user": {"id": "…"}, "roles": […]}]}`. Missing fields get
    /// defaults.
    pub fn guild(&self, guild: &Value) {
        self.shared.change(|world| world.add_guild(guild)).expect("a guild has an id");
    }

    /// Makes a bot join a guild.
    pub fn join(&self, token: &str, guild: u64) {
        self.shared.change(|world| world.join(token, guild)).expect("a bot and a guild");
    }

    /// Makes a bot or a person leave a guild.
    pub fn leave(&self, guild: u64, user: u64) {
        self.shared.change(|world| world.leave(guild, user)).expect("a member");
    }

    /// Creates or changes a role of a guild.
    pub fn role(&self, guild: u64, role: &Value) {
        self.shared.change(|world| world.set_role(guild, role)).expect("a guild, and a role's id");
    }

    /// Creates a member of a guild, or changes their roles.
    pub fn member(&self, guild: u64, user: u64, roles: &[u64]) {
        let roles: Value = roles.iter().map(u64::to_string).collect();
        self.shared.change(|world| world.set_member(guild, user, &roles)).expect("a guild");
    }

    /// Creates a channel of a guild, or changes it, for example its `permission_overwrites`.
    pub fn channel(&self, guild: u64, channel: &Value) {
        let set = self.shared.change(|world| world.set_channel(guild, channel));
        set.expect("a guild, and a channel's id");
    }

    /// Removes a channel or a thread.
    pub fn drop_channel(&self, channel: u64) {
        self.shared.change(|world| world.drop_channel(channel)).expect("a channel");
    }

    /// Opens a thread in a channel as a person, under a message if it is named. Returns its id.
    pub fn thread(&self, parent: u64, owner: u64, message: Option<u64>, name: &str) -> u64 {
        let thread = json!({ "name": name });
        let opened = self.shared.change(|world| world.open_thread(parent, owner, message, &thread));
        opened.and_then(|thread| world::number(&thread["id"])).expect("a channel of a guild")
    }

    /// Opens a thread that only its members see. Returns its id.
    pub fn private_thread(&self, parent: u64, owner: u64, name: &str) -> u64 {
        let thread = json!({ "name": name, "type": world::threads::PRIVATE_THREAD });
        let opened = self.shared.change(|world| world.open_thread(parent, owner, None, &thread));
        opened.and_then(|thread| world::number(&thread["id"])).expect("a channel of a guild")
    }

    /// Adds a person to a thread, or removes them.
    pub fn thread_member(&self, thread: u64, user: u64, is_in: bool) {
        let set = self.shared.change(|world| world.set_thread_member(thread, user, is_in));
        set.expect("a thread");
    }

    /// Returns the direct channel of a bot and a person.
    pub fn direct(&self, bot: u64, user: u64) -> u64 {
        self.shared.change(|world| world.direct(bot, user))
    }

    /// Makes a person refuse direct messages from now on.
    pub fn block(&self, user: u64) {
        self.shared.change(|world| world.blocked.insert(user));
    }

    /// Expires the token of an interaction early.
    pub fn end_interaction(&self, interaction: u64) {
        self.shared.change(|world| {
            world.interactions.get_mut(&interaction).expect("an interaction").is_ended = true;
        });
    }

    /// Makes the fake post interactions to this URL with a signature, after it tested the URL as Discord does.
    pub async fn post_interactions(&self, token: &str, url: &str) -> Result<(), String> {
        let application = self.change_bot(token, |bot| {
            bot.interactions_url = Some(url.to_owned());
            bot.id
        });
        sign::try_endpoint(&self.shared, application).await
    }

    /// Returns the public key for signatures of an application, in hex.
    pub fn public_key(&self, token: &str) -> String {
        self.shared.world().bots.get(token).expect("a bot").key.public_hex()
    }
}

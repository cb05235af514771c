//! Creates interactions with buttons and commands, and records their answers.

use std::time::Duration;

use serde_json::{Value, json};

use super::{World, number, things};

/// An interaction of a person with a bot, and its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// Its id.
    pub id: u64,
    /// Token for the answers.
    pub token: String,
    /// Its application.
    pub application: u64,
    /// Its channel.
    pub channel: u64,
    /// Its time, since the fake began.
    pub at: Duration,
    /// The type of the first answer, once there is one.
    pub answered: Option<u64>,
    /// The message that the first answer created or changed.
    pub original: Option<u64>,
    /// All messages and changes by the bot, the first answer first.
    pub said: Vec<Value>,
    /// True if its token was expired early.
    pub is_ended: bool,
    /// The whole interaction as the bot received it.
    pub told: Value,
}

const COMMAND: u64 = 2;
const COMPONENT: u64 = 3;

/// Maximum size of a file in an answer.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;

impl World {
    /// Presses a button of a message as a person.
    pub(crate) fn press(
        &mut self,
        user: u64,
        (channel, message): (u64, u64),
        custom_id: &str,
    ) -> Option<u64> {
        let pressed = self.messages.get(&(channel, message))?.clone();
        let application = number(&pressed["author"]["id"])?;
        let asked = json!({
            "type": COMPONENT, "message": pressed,
            "data": { "component_type": 2, "custom_id": custom_id, "id": 1 },
        });
        let id = self.interact(application, user, channel, &asked)?;
        self.interactions.get_mut(&id)?.original = Some(message);
        Some(id)
    }

    /// Gives a command with these options as a person.
    pub(crate) fn command(
        &mut self,
        application: u64,
        user: u64,
        channel: u64,
        (name, options): (&str, &Value),
    ) -> Option<u64> {
        let command = self.new_id();
        let mut data = json!({ "id": command.to_string(), "name": name, "type": 1 });
        if options.is_array() {
            data["options"] = options.clone();
        }
        self.interact(application, user, channel, &json!({ "type": COMMAND, "data": data }))
    }

    fn interact(
        &mut self,
        application: u64,
        user: u64,
        channel: u64,
        asked: &Value,
    ) -> Option<u64> {
        let place = self.place(channel)?;
        let id = self.new_id();
        let token = format!("aW50ZXJhY3Rpb246{id}");
        let may = self.permissions(application, channel).to_string();
        let about = json!({
            "id": id.to_string(), "application_id": application.to_string(), "token": token,
            "version": 1, "channel_id": channel.to_string(), "channel": place, "locale": "en-US",
            "entitlements": [], "attachment_size_limit": FILE_BYTES_MAX, "app_permissions": may,
        });
        let mut told = things::filled(asked, about);
        self.sign_who(user, channel, &place["guild_id"], &mut told);
        let interaction = Interaction {
            id,
            token,
            application,
            channel,
            at: self.now(),
            answered: None,
            original: None,
            said: Vec::new(),
            is_ended: false,
            told: told.clone(),
        };
        self.interactions.insert(id, interaction);
        self.hand_over(application, number(&place["guild_id"]), &told);
        Some(id)
    }

    /// Sets the author: a member in a guild, a user elsewhere.
    fn sign_who(&self, user: u64, channel: u64, guild: &Value, asked: &mut Value) {
        let owners = |kind: &str, id: &str| json!({ kind: id });
        let Some(guild) = number(guild) else {
            asked["user"] = self.user(user);
            asked["context"] = json!(1);
            asked["authorizing_integration_owners"] = owners("0", "0");
            return;
        };
        let passing = || things::member(&self.user(user), &json!([]), &self.date());
        let mut member = self.member(guild, user).cloned().unwrap_or_else(passing);
        member["permissions"] = json!(self.permissions(user, channel).to_string());
        asked["member"] = member;
        asked["guild_id"] = json!(guild.to_string());
        asked["guild"] = json!({ "id": guild.to_string(), "locale": "en-US", "features": [] });
        asked["guild_locale"] = json!("en-US");
        asked["context"] = json!(0);
        asked["authorizing_integration_owners"] = owners("0", &guild.to_string());
    }

    /// Posts the interaction to the bot's URL, or dispatches it.
    fn hand_over(&mut self, application: u64, guild: Option<u64>, asked: &Value) {
        let bot = self.bots.values().find(|bot| bot.id == application);
        if bot.is_some_and(|bot| bot.interactions_url.is_some()) {
            self.posts.push_back((application, asked.clone()));
        } else {
            self.happens_for(application, guild, "INTERACTION_CREATE", asked);
        }
    }

    pub(crate) fn interaction_of(&mut self, token: &str) -> Option<&mut Interaction> {
        self.interactions.values_mut().find(|one| one.token == token)
    }
}

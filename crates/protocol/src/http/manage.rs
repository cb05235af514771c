//! `/manage/…`: what is asked about whom an agent can be reached by. No client of today calls these, so
//! the bodies are ours. What a body says about tenant or agent is not read.

use serde::{Deserialize, Serialize};

/// Which bot is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OnBot {
    /// The platform's name: `discord`, `telegram`, `webchat`.
    pub platform: String,
    /// What the platform calls the bot, if several of that platform are open to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot_id: Option<String>,
}

/// `POST /manage/link`: a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// What a person sends: `/link` and this.
    pub code: String,
    /// For how many seconds it is good.
    pub expires_in: u64,
    /// The bots it can be sent to.
    pub bots: Vec<OnBot>,
}

/// `POST /manage/unlink`, `POST /manage/dm-default`: a person on a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// On which bot.
    #[serde(flatten)]
    pub on: OnBot,
    /// The person, by the platform's id.
    pub user_id: String,
}

/// `POST /manage/scope`, `POST /manage/scope/release`: a chat, or everything in a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// On which bot.
    #[serde(flatten)]
    pub on: OnBot,
    /// The guild, workspace or server.
    #[serde(default, alias = "guildId", skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// The chat or channel. Without it, everything in the scope.
    #[serde(default, alias = "channelId", skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<String>,
}

/// `POST /manage/principal`: who may reach the agent where it was granted something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Principal {
    /// `owner-only`, `allow-list` or `any`.
    pub principal: String,
}

/// `POST /manage/allow-list`: who else is on the agent's list on a bot, and nobody besides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowList {
    /// On which bot.
    #[serde(flatten)]
    pub on: OnBot,
    /// People, by the platform's id.
    pub user_ids: Vec<String>,
}

/// `GET /manage`: whom an agent can be reached by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// Who may reach it where it was granted something: `owner-only`, `allow-list` or `any`.
    pub principal: String,
    /// The people that are its own.
    pub people: Vec<Known>,
    /// The places it was granted.
    pub scopes: Vec<Place>,
    /// Who else is welcome.
    pub allow_list: Vec<Known>,
    /// What it said of each platform.
    pub policies: Vec<super::policy::Request>,
}

/// A person on a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Known {
    /// The bot, by the desk's id.
    pub bot: String,
    /// The person, by the platform's id.
    pub user_id: String,
}

/// A place on a bot. Without scope and chat: everything there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The bot, by the desk's id.
    pub bot: String,
    /// The guild, workspace or server.
    pub scope_id: Option<String>,
    /// The chat or channel.
    pub chat_id: Option<String>,
    /// Who may reach the agent there.
    pub principal: String,
}

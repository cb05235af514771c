//! `/manage/…`: manages the people and places that can reach an agent. No current client calls these routes, so the
//! bodies are the desk's own. A tenant or agent in a body is ignored.

use serde::{Deserialize, Serialize};

/// A bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BotSelector {
    /// The platform's name: `discord`, `telegram`, `webchat`.
    pub platform: String,
    /// The platform's name of the bot, if the agent can use several bots of that platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot_id: Option<String>,
}

/// `POST /manage/link`: a link code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinkCodeResponse {
    /// The code, which a person sends after `/link`.
    pub code: String,
    /// The lifetime in seconds.
    pub expires_in: u64,
    /// The bots that accept it.
    pub bots: Vec<BotSelector>,
}

/// `POST /manage/unlink`, `POST /manage/dm-default`: a person on a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// The bot.
    #[serde(flatten)]
    pub on: BotSelector,
    /// The person, by the platform's id.
    pub user_id: String,
}

/// `POST /manage/scope`, `POST /manage/scope/release`: a chat, or everything in a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// The bot.
    #[serde(flatten)]
    pub on: BotSelector,
    /// The guild, workspace or server.
    #[serde(default, alias = "guildId", skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// The chat or channel. Without it, the whole scope.
    #[serde(default, alias = "channelId", skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<String>,
}

/// `POST /manage/principal`: sets the people who may reach the agent in granted places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Principal {
    /// `owner-only`, `allow-list` or `any`.
    pub principal: String,
}

/// `POST /manage/allow-list`: replaces the agent's allow list on a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowList {
    /// The bot.
    #[serde(flatten)]
    pub on: BotSelector,
    /// The people, by the platform's id.
    pub user_ids: Vec<String>,
}

/// `GET /manage`: the people and places that can reach an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// The people who may reach it in granted places: `owner-only`, `allow-list` or `any`.
    pub principal: String,
    /// The people bound to the agent.
    pub people: Vec<BotPerson>,
    /// The granted places.
    pub scopes: Vec<GrantedPlace>,
    /// The people on the allow list.
    pub allow_list: Vec<BotPerson>,
    /// The agent's policy per platform.
    pub policies: Vec<super::policy::PolicyRequest>,
}

/// A person on a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BotPerson {
    /// The bot, by the desk's id.
    pub bot: String,
    /// The person, by the platform's id.
    pub user_id: String,
}

/// A place on a bot. Without scope and chat: the whole bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrantedPlace {
    /// The bot, by the desk's id.
    pub bot: String,
    /// The guild, workspace or server.
    pub scope_id: Option<String>,
    /// The chat or channel.
    pub chat_id: Option<String>,
    /// The people who may reach the agent there.
    pub principal: String,
}

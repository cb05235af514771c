//! Bots as the store has them: the desk's accounts on platforms.

use nightdesk_types::{BotId, DataKeyId, TenantId};
use nightdesk_vault::WrappedKey;
use serde_json::Value;
use uuid::Uuid;

/// A new bot to create.
#[derive(Clone, Debug)]
pub struct NewBot {
    /// The bot's id. It is chosen before the row exists, because the key is sealed for it.
    pub id: Uuid,
    /// The platform's name, as clients see it.
    pub platform: String,
    /// The adapter that serves the bot.
    pub adapter: String,
    /// The bot's handle on the platform.
    pub handle: String,
    /// The unguessable part of the bot's webhook path.
    pub path: String,
    /// Further settings of the adapter.
    pub settings: Value,
    /// The sealed key and the id of the operator's data key that sealed it.
    pub sealed: Option<(Vec<u8>, DataKeyId)>,
}

/// A stored bot with its keys still sealed.
#[derive(Clone, Debug)]
pub struct StoredBot {
    /// The tenant that runs the bot.
    pub operator: TenantId,
    /// The bot's id.
    pub id: BotId,
    /// The platform's name.
    pub platform: String,
    /// The adapter that serves the bot.
    pub adapter: String,
    /// The bot's handle on the platform.
    pub handle: String,
    /// Further settings of the adapter.
    pub settings: Value,
    /// The bot's valid keys, newest first.
    pub keys: Vec<StoredBotKey>,
}

/// A bot's key as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBotKey {
    /// The row that the key was sealed for. A bot's first key is sealed for the bot's own id.
    pub row: Uuid,
    /// The sealed key.
    pub sealed: Vec<u8>,
    /// The id of the operator's data key that sealed it.
    pub key: DataKeyId,
    /// That data key, wrapped.
    pub wrapped: WrappedKey,
}

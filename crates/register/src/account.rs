//! Accounts of ours on platforms, as the store keeps them.

use nightdesk_types::{BotId, DataKeyId, TenantId};
use nightdesk_vault::WrappedKey;
use serde_json::Value;
use uuid::Uuid;

/// A bot to be entered.
#[derive(Clone, Debug)]
pub struct NewBot {
    /// The id it gets: its key is sealed for it before the row exists.
    pub id: Uuid,
    /// The platform's name, as clients are told it.
    pub platform: String,
    /// Which of our adapters speaks for it.
    pub adapter: String,
    /// What the platform calls it.
    pub handle: String,
    /// The unguessable part of its webhook's path.
    pub path: String,
    /// What its adapter wants to know besides.
    pub settings: Value,
    /// Its sealed key, and which of the operator's data keys sealed it.
    pub sealed: Option<(Vec<u8>, DataKeyId)>,
}

/// A bot as the store has it, its key still sealed.
#[derive(Clone, Debug)]
pub struct StoredBot {
    /// Who runs it.
    pub operator: TenantId,
    /// Its id.
    pub id: BotId,
    /// The platform's name.
    pub platform: String,
    /// Which of our adapters speaks for it.
    pub adapter: String,
    /// What the platform calls it.
    pub handle: String,
    /// What its adapter wants to know besides.
    pub settings: Value,
    /// Its live keys, newest first.
    pub keys: Vec<StoredBotKey>,
}

/// A bot's key as the store has it, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBotKey {
    /// The row it was sealed for. A bot's first key lies under the bot's own id.
    pub row: Uuid,
    /// The sealed key.
    pub sealed: Vec<u8>,
    /// Which of the operator's data keys sealed it, ...
    pub key: DataKeyId,
    /// ... and that key.
    pub wrapped: WrappedKey,
}

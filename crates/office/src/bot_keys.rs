//! Keys of bots.

use std::time::Duration;

use nightdesk_types::limits::{BOT_KEY_OVERLAP_MAX, BOT_KEY_READ_WITHIN};
use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::bots::{OwnBot, unknown_bot};
use crate::error::OfficeError;
use crate::office::Office;

/// A secret in a request. It is never printed.
#[derive(Clone, Debug)]
pub struct SecretText(Key);

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Key::new(text)))
    }
}

impl SecretText {
    pub(crate) fn into_key(self) -> Result<Key, OfficeError> {
        if self.0.with(str::is_empty) {
            return Err(OfficeError::Invalid("key must not be empty".to_owned()));
        }
        Ok(self.0)
    }
}

/// A bot's new key.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BotKeyRequest {
    /// The key.
    #[schema(value_type = String)]
    pub key: SecretText,
    /// The seconds for which signatures with earlier keys stay valid. Default: a day, the maximum.
    #[serde(default = "longest_overlap")]
    pub overlap_secs: u64,
}

const fn longest_overlap() -> u64 {
    BOT_KEY_OVERLAP_MAX.as_secs()
}

/// A key that was replaced.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RotatedBotKey {
    /// The bot.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The seconds for which signatures with earlier keys stay valid.
    pub overlap_s: u64,
    /// The seconds within which every node uses the new key.
    pub read_within_s: u64,
}

impl Office {
    /// Gives a bot a new key, and tells its platform again where its updates go.
    pub async fn rotate_bot_key(
        &self,
        scope: TenantScope,
        called: &str,
        request: BotKeyRequest,
    ) -> Result<RotatedBotKey, OfficeError> {
        let (key, overlap) = (request.key.into_key()?, Duration::from_secs(request.overlap_secs));
        if overlap > BOT_KEY_OVERLAP_MAX {
            return Err(OfficeError::Invalid("the overlap must be at most 24h".to_owned()));
        }
        let OwnBot { id, hook } = self.own_bot(scope, called).await?;
        if !self.desk.stops.register.rotate_bot_key(scope, id, &key, overlap).await? {
            return Err(unknown_bot());
        }
        let (bot, adapter) = self.stored_bot(id).await?;
        if let Some(setup) = self.setups.get(&adapter) {
            let directed = setup.direct_updates(&bot, &hook).await;
            directed.map_err(|cause| not_updated(&adapter, &cause))?;
        }
        let read_within_s = BOT_KEY_READ_WITHIN.as_secs();
        Ok(RotatedBotKey { bot_id: id, overlap_s: overlap.as_secs(), read_within_s })
    }
}

fn not_updated(adapter: &str, cause: &OfficeError) -> OfficeError {
    OfficeError::Conflict(format!(
        "the key was replaced, but {adapter} could not be updated; repeat the command: {cause}"
    ))
}

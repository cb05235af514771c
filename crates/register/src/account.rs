//! Bots as the store has them: the desk's accounts on platforms.

use nightdesk_types::limits::HOOK_PATH_BYTES_MAX;
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

/// Returns true if a bot may have this path. A path from the network that is too long, or that the database cannot
/// store, is not looked up.
pub(crate) fn is_hook_path(path: &str) -> bool {
    (1..=HOOK_PATH_BYTES_MAX).contains(&path.len())
        && path.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_looked_up() {
        let longest = "a".repeat(HOOK_PATH_BYTES_MAX);
        let too_long = "a".repeat(HOOK_PATH_BYTES_MAX + 1);

        assert!(["p2", "0f1e2d3c", longest.as_str()].into_iter().all(is_hook_path));
        let others = ["", "a\0b", "a b", "caf\u{e9}", "\u{feff}p2", too_long.as_str()];
        for other in others {
            assert!(!is_hook_path(other), "{other:?}");
        }
    }
}

//! A cache of the senders of messages.

use std::sync::Arc;

use moka::sync::Cache;
use nightdesk_types::{BotId, StoreError};

use crate::bot_reach::ScopedAgent;
use crate::store::{BotMessage, Store};

/// Senders in the cache, so that the edits of one message read the store once.
const MESSAGE_SENDERS_CACHED_MAX: u64 = 10_000;

/// Finds the senders of messages. A client edits one message many times while it writes, so only the first edit reads
/// the store. The sender of a message never changes; an unknown sender is not cached.
pub(crate) struct SenderCache {
    store: Arc<dyn Store>,
    senders: Cache<BotMessage, ScopedAgent>,
}

impl SenderCache {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, senders: Cache::new(MESSAGE_SENDERS_CACHED_MAX) }
    }

    /// Returns the agent whose send made a message or a thread.
    pub(crate) async fn find_sender(
        &self,
        bot: BotId,
        chat: &str,
        id: &str,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        let message = BotMessage { bot, chat: chat.to_owned(), id: canonical_id(id) };
        if let Some(sender) = self.senders.get(&message) {
            return Ok(Some(sender));
        }
        let sender = self.store.find_message_sender(&message).await?;
        if let Some(sender) = sender {
            self.senders.insert(message, sender);
        }
        Ok(sender)
    }
}

/// Returns a message id as its platform writes it. Platforms parse numbers leniently: `+5` and `05` also name message 5.
fn canonical_id(id: &str) -> String {
    id.parse::<i128>().map_or_else(|_| id.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_number_names_the_same_message() {
        let cases =
            [("5", "5"), ("+5", "5"), ("005", "5"), ("-05", "-5"), ("m05", "m05"), ("", "")];
        for (id, want) in cases {
            assert_eq!(canonical_id(id), want, "{id}");
        }
    }
}

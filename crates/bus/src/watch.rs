//! Watchers: whoever looks at a chat through this node waits here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_types::BotId;
use nightdesk_types::limits::{CHAT_STREAMS_MAX, STREAMS_MAX};
use tokio::sync::Notify;

/// Why nobody more may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// This chat is looked at by as many as may.
    Chat,
    /// This node shows as many chats as it can.
    Node,
}

/// Who looks at chats on this node. Its clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Watchers(Arc<Mutex<Watched>>);

#[derive(Debug, Default)]
struct Watched {
    /// The bells of each chat. A chat that nobody looks at is not here.
    chats: HashMap<(BotId, String), Vec<Arc<Notify>>>,
    all: usize,
}

/// One look at a chat. It ends when this is dropped.
#[derive(Debug)]
pub struct Watch {
    watchers: Watchers,
    chat: (BotId, String),
    bell: Arc<Notify>,
}

impl Watchers {
    /// Begins to look at a chat, if there is room.
    pub fn watch(&self, bot: BotId, chat: &str) -> Result<Watch, Full> {
        let mut watched = self.lock();
        if watched.all >= STREAMS_MAX {
            return Err(Full::Node);
        }
        let key = (bot, chat.to_owned());
        let bells = watched.chats.entry(key.clone()).or_default();
        if bells.len() >= CHAT_STREAMS_MAX {
            return Err(Full::Chat);
        }
        let bell = Arc::new(Notify::new());
        bells.push(Arc::clone(&bell));
        watched.all += 1;
        drop(watched);
        Ok(Watch { watchers: self.clone(), chat: key, bell })
    }

    /// Rings for all who look at a chat. Answers whether anybody does.
    pub fn ring(&self, bot: BotId, chat: &str) -> bool {
        let watched = self.lock();
        let bells = watched.chats.get(&(bot, chat.to_owned()));
        bells.into_iter().flatten().for_each(|bell| bell.notify_one());
        bells.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Waits until something may have changed. A ring since the last wait counts.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = self.watchers.lock();
        watched.all -= 1;
        if let Some(bells) = watched.chats.get_mut(&self.chat) {
            bells.retain(|bell| !Arc::ptr_eq(bell, &self.bell));
            if bells.is_empty() {
                watched.chats.remove(&self.chat);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const BOT: BotId = BotId::from_uuid(Uuid::nil());
    const OTHER: BotId = BotId::from_uuid(Uuid::max());

    #[tokio::test]
    async fn a_ring_is_heard_by_all_who_look_and_by_nobody_else() {
        let watchers = Watchers::default();
        let (one, two) = (watchers.watch(BOT, "c").unwrap(), watchers.watch(BOT, "c").unwrap());
        let other = watchers.watch(OTHER, "c").unwrap();

        assert!(watchers.ring(BOT, "c"));
        one.rung().await;
        two.rung().await;
        let heard = tokio::time::timeout(std::time::Duration::ZERO, other.rung()).await;
        assert!(heard.is_err(), "another bot's chat of that name");
        assert!(!watchers.ring(BOT, "d"));
    }

    #[test]
    fn a_chat_has_room_for_so_many_and_again_when_one_goes() {
        let watchers = Watchers::default();
        let mut open: Vec<Watch> =
            (0..CHAT_STREAMS_MAX).map(|_| watchers.watch(BOT, "c").unwrap()).collect();

        assert_eq!(watchers.watch(BOT, "c").unwrap_err(), Full::Chat);
        assert!(watchers.watch(OTHER, "c").is_ok(), "another chat has room");
        open.pop();
        assert!(watchers.watch(BOT, "c").is_ok());
    }

    #[test]
    fn a_node_has_room_for_so_many() {
        let watchers = Watchers::default();
        let open: Vec<Watch> =
            (0..STREAMS_MAX).map(|n| watchers.watch(BOT, &n.to_string()).unwrap()).collect();

        assert_eq!(watchers.watch(OTHER, "c").unwrap_err(), Full::Node);
        drop(open);
        assert!(watchers.watch(OTHER, "c").is_ok());
        assert!(watchers.lock().chats.len() <= 1, "nothing is left of those who went");
    }
}

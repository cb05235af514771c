//! Waits of tasks for one event each.
//!
//! [`Watchers`] are streams that show a chat on this node, [`Settlements`] sends that another node makes for this one.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use nightdesk_types::limits::{CHAT_STREAMS_MAX, SETTLED_WAITS_MAX, STREAMS_MAX};
use nightdesk_types::{AgentId, BotId, RequestId};
use tokio::sync::Notify;

use crate::bell::BellAddress;
use crate::mark_set::MarkSet;
use crate::sync::{Mutex, MutexGuard};

/// The limit that refuses a further wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitLimit {
    /// The limit per key: a chat has its maximum of streams.
    Chat,
    /// The limit per node.
    Node,
}

/// A key that tasks wait for.
pub trait WaitKey: Clone + Ord {
    /// Waits per key.
    const EACH_MAX: usize;
    /// Waits per node.
    const ALL_MAX: usize;

    /// Returns the address that the node must subscribe to while a task waits, besides its own.
    fn address(&self) -> Option<BellAddress>;
}

/// A chat, by its bot and its id there.
pub type ChatKey = (BotId, String);

/// A send, by its agent and the gateway's request id.
pub type SettlementKey = (AgentId, RequestId);

impl WaitKey for ChatKey {
    const EACH_MAX: usize = CHAT_STREAMS_MAX;
    const ALL_MAX: usize = STREAMS_MAX;

    fn address(&self) -> Option<BellAddress> {
        Some(BellAddress::Chat(self.0, self.1.clone()))
    }
}

impl WaitKey for SettlementKey {
    // The line, and perhaps the one that replaced it.
    const EACH_MAX: usize = 4;
    const ALL_MAX: usize = SETTLED_WAITS_MAX;

    fn address(&self) -> Option<BellAddress> {
        None
    }
}

/// The streams that watch chats on this node.
pub type Watchers = WaitRegistry<ChatKey>;

/// One stream that watches a chat.
pub type Watch = Wait<ChatKey>;

/// The requests on this node that wait for another node to settle a send.
pub type Settlements = WaitRegistry<SettlementKey>;

/// The waits by key. Clones share the same state.
#[derive(Debug)]
pub struct WaitRegistry<K> {
    waiting: Arc<Mutex<WaitTable<K>>>,
    changes: Arc<MarkSet<BellAddress>>,
}

#[derive(Debug)]
struct WaitTable<K> {
    /// The notifiers of each key. A key without waits is absent.
    bells: BTreeMap<K, Vec<Arc<Notify>>>,
    all: usize,
}

/// One wait. It ends when this value is dropped.
#[derive(Debug)]
pub struct Wait<K: WaitKey> {
    waits: WaitRegistry<K>,
    key: K,
    bell: Arc<Notify>,
}

impl<K> Clone for WaitRegistry<K> {
    fn clone(&self) -> Self {
        Self { waiting: Arc::clone(&self.waiting), changes: Arc::clone(&self.changes) }
    }
}

impl<K: WaitKey> WaitRegistry<K> {
    pub(crate) fn new(changes: Arc<MarkSet<BellAddress>>) -> Self {
        let waiting = WaitTable { bells: BTreeMap::new(), all: 0 };
        Self { waiting: Arc::new(Mutex::new(waiting)), changes }
    }

    /// Starts a wait, if there is room.
    pub fn begin_wait(&self, key: K) -> Result<Wait<K>, WaitLimit> {
        let mut waiting = self.lock();
        if waiting.all >= K::ALL_MAX {
            return Err(WaitLimit::Node);
        }
        let bells = waiting.bells.entry(key.clone()).or_default();
        if bells.len() >= K::EACH_MAX {
            return Err(WaitLimit::Chat);
        }
        let bell = Arc::new(Notify::new());
        bells.push(Arc::clone(&bell));
        let first = bells.len() == 1;
        waiting.all += 1;
        drop(waiting);
        self.mark_changed(first, &key);
        Ok(Wait { waits: self.clone(), key, bell })
    }

    /// Rings for all waits of a key. Returns true if there are any.
    pub fn ring_key(&self, key: &K) -> bool {
        let waiting = self.lock();
        let bells = waiting.bells.get(key);
        bells.into_iter().flatten().for_each(|bell| bell.notify_one());
        bells.is_some()
    }

    /// Returns true if a task waits for the key.
    pub(crate) fn has_wait(&self, key: &K) -> bool {
        self.lock().bells.contains_key(key)
    }

    /// Returns every key with a wait.
    pub(crate) fn keys(&self) -> Vec<K> {
        self.lock().bells.keys().cloned().collect()
    }

    fn mark_changed(&self, changed: bool, key: &K) {
        if let Some(address) = key.address().filter(|_| changed) {
            self.changes.mark(address);
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitTable<K>> {
        // The map is consistent at every step, also if a holder of the lock panicked.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchers {
    /// Starts to watch a chat, if there is room.
    pub fn watch(&self, bot: BotId, chat: &str) -> Result<Watch, WaitLimit> {
        self.begin_wait((bot, chat.to_owned()))
    }
}

impl<K: WaitKey> Wait<K> {
    /// Waits until the event may have happened. A ring since the last wait counts.
    pub async fn wait_for_ring(&self) {
        self.bell.notified().await;
    }
}

impl<K: WaitKey> Drop for Wait<K> {
    fn drop(&mut self) {
        let mut waiting = self.waits.lock();
        waiting.all -= 1;
        let Some(bells) = waiting.bells.get_mut(&self.key) else { return };
        bells.retain(|bell| !Arc::ptr_eq(bell, &self.bell));
        let last = bells.is_empty();
        if last {
            waiting.bells.remove(&self.key);
        }
        drop(waiting);
        self.waits.mark_changed(last, &self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Uuid;

    use super::*;
    use crate::mark_set::MarkedItems;

    const BOT: BotId = BotId::from_uuid(Uuid::nil());
    const OTHER: BotId = BotId::from_uuid(Uuid::max());

    fn watchers() -> Watchers {
        Watchers::new(Arc::default())
    }

    #[tokio::test]
    async fn a_ring_is_heard_by_all_who_look_and_by_nobody_else() {
        let watchers = watchers();
        let (one, two) = (watchers.watch(BOT, "c").unwrap(), watchers.watch(BOT, "c").unwrap());
        let other = watchers.watch(OTHER, "c").unwrap();

        assert!(watchers.ring_key(&(BOT, "c".to_owned())));
        one.wait_for_ring().await;
        two.wait_for_ring().await;
        let heard = tokio::time::timeout(std::time::Duration::ZERO, other.wait_for_ring()).await;
        assert!(heard.is_err(), "another bot's chat of that name");
        assert!(!watchers.ring_key(&(BOT, "d".to_owned())));
    }

    #[test]
    fn a_chat_has_room_for_so_many_and_again_when_one_goes() {
        let watchers = watchers();
        let mut open: Vec<Watch> =
            (0..CHAT_STREAMS_MAX).map(|_| watchers.watch(BOT, "c").unwrap()).collect();

        assert_eq!(watchers.watch(BOT, "c").unwrap_err(), WaitLimit::Chat);
        assert!(watchers.watch(OTHER, "c").is_ok(), "another chat has room");
        open.pop();
        assert!(watchers.watch(BOT, "c").is_ok());
    }

    #[test]
    fn a_node_has_room_for_so_many() {
        let watchers = watchers();
        let open: Vec<Watch> =
            (0..STREAMS_MAX).map(|n| watchers.watch(BOT, &n.to_string()).unwrap()).collect();

        assert_eq!(watchers.watch(OTHER, "c").unwrap_err(), WaitLimit::Node);
        drop(open);
        assert!(watchers.watch(OTHER, "c").is_ok());
        assert!(watchers.lock().bells.len() <= 1, "nothing is left of those who went");
    }

    #[test]
    fn a_node_listens_for_a_chat_from_the_first_who_looks_to_the_last() {
        let watchers = watchers();
        let chat = MarkedItems::These(BTreeSet::from([BellAddress::Chat(BOT, "c".to_owned())]));

        let one = watchers.watch(BOT, "c").unwrap();
        assert_eq!(watchers.changes.take(), Some(chat.clone()));
        let two = watchers.watch(BOT, "c").unwrap();
        drop(one);
        assert_eq!(watchers.changes.take(), None);
        drop(two);
        assert_eq!(watchers.changes.take(), Some(chat));
    }
}

//! Waits of tasks for one event each.
//!
//! [`Watchers`] are streams that show a chat on this node, [`Settlements`] sends that another node makes for this one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_types::limits::{CHAT_STREAMS_MAX, SETTLED_WAITS_MAX, STREAMS_MAX};
use nightdesk_types::{AgentId, BotId, RequestId};
use tokio::sync::Notify;

use crate::bell::Address;
use crate::marks::Marks;

/// The limit that refuses a further wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The limit per key: a chat has its maximum of streams.
    Chat,
    /// The limit per node.
    Node,
}

/// A key that tasks wait for.
pub trait Waited: Clone + Ord {
    /// Waits per key.
    const EACH_MAX: usize;
    /// Waits per node.
    const ALL_MAX: usize;

    /// Returns the address that the node must subscribe to while a task waits, besides its own.
    fn address(&self) -> Option<Address>;
}

/// A chat, by its bot and its id there.
pub type Chat = (BotId, String);

/// A send, by its agent and the gateway's request id.
pub type Settlement = (AgentId, RequestId);

impl Waited for Chat {
    const EACH_MAX: usize = CHAT_STREAMS_MAX;
    const ALL_MAX: usize = STREAMS_MAX;

    fn address(&self) -> Option<Address> {
        Some(Address::Chat(self.0, self.1.clone()))
    }
}

impl Waited for Settlement {
    // The line, and perhaps the one that replaced it.
    const EACH_MAX: usize = 4;
    const ALL_MAX: usize = SETTLED_WAITS_MAX;

    fn address(&self) -> Option<Address> {
        None
    }
}

/// The streams that watch chats on this node.
pub type Watchers = Waits<Chat>;

/// One stream that watches a chat.
pub type Watch = Wait<Chat>;

/// The requests on this node that wait for another node to settle a send.
pub type Settlements = Waits<Settlement>;

/// The waits by key. Clones share the same state.
#[derive(Debug)]
pub struct Waits<K> {
    waiting: Arc<Mutex<Waiting<K>>>,
    changes: Arc<Marks<Address>>,
}

#[derive(Debug)]
struct Waiting<K> {
    /// The notifiers of each key. A key without waits is absent.
    bells: BTreeMap<K, Vec<Arc<Notify>>>,
    all: usize,
}

/// One wait. It ends when this value is dropped.
#[derive(Debug)]
pub struct Wait<K: Waited> {
    waits: Waits<K>,
    key: K,
    bell: Arc<Notify>,
}

impl<K> Clone for Waits<K> {
    fn clone(&self) -> Self {
        Self { waiting: Arc::clone(&self.waiting), changes: Arc::clone(&self.changes) }
    }
}

impl<K: Waited> Waits<K> {
    pub(crate) fn marking(changes: Arc<Marks<Address>>) -> Self {
        let waiting = Waiting { bells: BTreeMap::new(), all: 0 };
        Self { waiting: Arc::new(Mutex::new(waiting)), changes }
    }

    /// Starts a wait, if there is room.
    pub fn wait(&self, key: K) -> Result<Wait<K>, Full> {
        let mut waiting = self.lock();
        if waiting.all >= K::ALL_MAX {
            return Err(Full::Node);
        }
        let bells = waiting.bells.entry(key.clone()).or_default();
        if bells.len() >= K::EACH_MAX {
            return Err(Full::Chat);
        }
        let bell = Arc::new(Notify::new());
        bells.push(Arc::clone(&bell));
        let first = bells.len() == 1;
        waiting.all += 1;
        drop(waiting);
        self.changed(first, &key);
        Ok(Wait { waits: self.clone(), key, bell })
    }

    /// Rings for all waits of a key. Returns true if there are any.
    pub fn ring(&self, key: &K) -> bool {
        let waiting = self.lock();
        let bells = waiting.bells.get(key);
        bells.into_iter().flatten().for_each(|bell| bell.notify_one());
        bells.is_some()
    }

    /// Returns true if a task waits for the key.
    pub(crate) fn has(&self, key: &K) -> bool {
        self.lock().bells.contains_key(key)
    }

    /// Returns every key with a wait.
    pub(crate) fn keys(&self) -> Vec<K> {
        self.lock().bells.keys().cloned().collect()
    }

    fn changed(&self, changed: bool, key: &K) {
        if let Some(address) = key.address().filter(|_| changed) {
            self.changes.mark(address);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<K>> {
        // The map is consistent at every step, also if a holder of the lock panicked.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watchers {
    /// Starts to watch a chat, if there is room.
    pub fn watch(&self, bot: BotId, chat: &str) -> Result<Watch, Full> {
        self.wait((bot, chat.to_owned()))
    }
}

impl<K: Waited> Wait<K> {
    /// Waits until the event may have happened. A ring since the last wait counts.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }
}

impl<K: Waited> Drop for Wait<K> {
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
        self.waits.changed(last, &self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Uuid;

    use super::*;
    use crate::marks::Marked;

    const BOT: BotId = BotId::from_uuid(Uuid::nil());
    const OTHER: BotId = BotId::from_uuid(Uuid::max());

    fn watchers() -> Watchers {
        Watchers::marking(Arc::default())
    }

    #[tokio::test]
    async fn a_ring_is_heard_by_all_who_look_and_by_nobody_else() {
        let watchers = watchers();
        let (one, two) = (watchers.watch(BOT, "c").unwrap(), watchers.watch(BOT, "c").unwrap());
        let other = watchers.watch(OTHER, "c").unwrap();

        assert!(watchers.ring(&(BOT, "c".to_owned())));
        one.rung().await;
        two.rung().await;
        let heard = tokio::time::timeout(std::time::Duration::ZERO, other.rung()).await;
        assert!(heard.is_err(), "another bot's chat of that name");
        assert!(!watchers.ring(&(BOT, "d".to_owned())));
    }

    #[test]
    fn a_chat_has_room_for_so_many_and_again_when_one_goes() {
        let watchers = watchers();
        let mut open: Vec<Watch> =
            (0..CHAT_STREAMS_MAX).map(|_| watchers.watch(BOT, "c").unwrap()).collect();

        assert_eq!(watchers.watch(BOT, "c").unwrap_err(), Full::Chat);
        assert!(watchers.watch(OTHER, "c").is_ok(), "another chat has room");
        open.pop();
        assert!(watchers.watch(BOT, "c").is_ok());
    }

    #[test]
    fn a_node_has_room_for_so_many() {
        let watchers = watchers();
        let open: Vec<Watch> =
            (0..STREAMS_MAX).map(|n| watchers.watch(BOT, &n.to_string()).unwrap()).collect();

        assert_eq!(watchers.watch(OTHER, "c").unwrap_err(), Full::Node);
        drop(open);
        assert!(watchers.watch(OTHER, "c").is_ok());
        assert!(watchers.lock().bells.len() <= 1, "nothing is left of those who went");
    }

    #[test]
    fn a_node_listens_for_a_chat_from_the_first_who_looks_to_the_last() {
        let watchers = watchers();
        let chat = Marked::These(BTreeSet::from([Address::Chat(BOT, "c".to_owned())]));

        let one = watchers.watch(BOT, "c").unwrap();
        assert_eq!(watchers.changes.take(), Some(chat.clone()));
        let two = watchers.watch(BOT, "c").unwrap();
        drop(one);
        assert_eq!(watchers.changes.take(), None);
        drop(two);
        assert_eq!(watchers.changes.take(), Some(chat));
    }
}

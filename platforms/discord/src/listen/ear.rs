//! Ear: what a bot's socket told, until it is stored.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nightdesk_port::Bot;
use nightdesk_vault::Key;
use tokio::sync::{Mutex as AsyncMutex, mpsc, watch};
use tokio::time::{Instant, timeout};

use super::course::Fatal;
use super::cursor::Cursor;
use super::talk::Told;
use crate::words::Id;

/// How long it is waited for something to come.
const POLL_FOR: Duration = Duration::from_secs(25);

/// Events that are told at a time, ...
const BATCH_MAX: usize = 50;

/// ... and that are read ahead meanwhile.
const AHEAD_MAX: usize = 64;

/// Nobody listened for so long: somebody else will.
const LEFT_AFTER: Duration = Duration::from_secs(15);

/// How long a goodbye may take.
const GOODBYE_WAIT: Duration = Duration::from_secs(2);

/// Channels that nothing is asked about any more.
const GIVEN_UP_MAX: usize = 1_000;

/// Why nothing is heard any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    Left,
    Fatal(Fatal),
}

/// What a bot's socket told.
pub(super) struct Ear {
    key: Option<Key>,
    pile: AsyncMutex<Pile>,
    shared: Arc<Shared>,
    leave: watch::Sender<bool>,
    given_up: Mutex<HashSet<Id>>,
}

struct Pile {
    rx: mpsc::Receiver<Arc<Told>>,
    /// What was told and is not stored.
    unstored: VecDeque<Arc<Told>>,
}

/// What the ear and the driver of its socket both know.
pub(super) struct Shared {
    stored: Mutex<Option<Cursor>>,
    attention: Mutex<Attention>,
    end: Mutex<Option<Fatal>>,
}

struct Attention {
    listening: usize,
    since: Instant,
}

/// The driver's ends.
pub(super) struct Ends {
    pub(super) tx: mpsc::Sender<Arc<Told>>,
    pub(super) shared: Arc<Shared>,
    pub(super) leave: watch::Receiver<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// What is stored.
    pub(super) fn stored(&self) -> Option<Cursor> {
        lock(&self.stored).clone()
    }

    /// Whether nobody has listened for a while.
    pub(super) fn is_left(&self) -> bool {
        let attention = lock(&self.attention);
        attention.listening == 0 && attention.since.elapsed() > LEFT_AFTER
    }

    pub(super) fn end(&self, fatal: Fatal) {
        *lock(&self.end) = Some(fatal);
    }
}

/// Somebody listens, as long as this is there.
struct Attending<'e>(&'e Shared);

impl<'e> Attending<'e> {
    fn to(shared: &'e Shared) -> Self {
        lock(&shared.attention).listening += 1;
        Self(shared)
    }
}

impl Drop for Attending<'_> {
    fn drop(&mut self) {
        let mut attention = lock(&self.0.attention);
        attention.listening -= 1;
        attention.since = Instant::now();
    }
}

impl Ear {
    pub(super) fn open(bot: &Bot, stored: Option<Cursor>) -> (Arc<Self>, Ends) {
        let (tx, rx) = mpsc::channel(AHEAD_MAX);
        let (leave, left) = watch::channel(false);
        let attention = Attention { listening: 0, since: Instant::now() };
        let shared = Arc::new(Shared {
            stored: Mutex::new(stored),
            attention: Mutex::new(attention),
            end: Mutex::new(None),
        });
        let pile = AsyncMutex::new(Pile { rx, unstored: VecDeque::new() });
        let (key, given_up) = (bot.key.clone(), Mutex::default());
        let ear = Self { key, pile, shared: Arc::clone(&shared), leave, given_up };
        (Arc::new(ear), Ends { tx, shared, leave: left })
    }

    /// Whether it listens with the key that the bot has.
    pub(super) fn is_of(&self, bot: &Bot) -> bool {
        super::is_same(self.key.as_ref(), bot)
    }

    /// Whether it is where the cursor stands: it may have been moved elsewhere meanwhile.
    pub(super) async fn goes_on_after(&self, cursor: Option<&Cursor>) -> bool {
        let pile = self.pile.lock().await;
        let stored = self.shared.stored();
        cursor == stored.as_ref()
            || cursor.is_some_and(|cursor| pile.unstored.iter().any(|told| told.cursor == *cursor))
    }

    /// All up to the cursor is stored. Answers what that is.
    pub(super) async fn stored(&self, cursor: Option<&Cursor>) -> Vec<Arc<Told>> {
        let mut pile = self.pile.lock().await;
        let Some(cursor) = cursor else { return Vec::new() };
        *lock(&self.shared.stored) = Some(cursor.clone());
        let last = pile.unstored.iter().rposition(|told| cursor.covers(&told.cursor));
        pile.unstored.drain(..last.map_or(0, |last| last + 1)).collect()
    }

    /// Waits a while until something was told that is not stored.
    pub(super) async fn hear(&self) -> Result<(), Silence> {
        let _attending = Attending::to(&self.shared);
        let mut pile = self.pile.lock().await;
        if pile.unstored.is_empty() {
            match timeout(POLL_FOR, pile.rx.recv()).await {
                Ok(Some(told)) => pile.unstored.push_back(told),
                Ok(None) => return Err(self.silence()),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// What was told and is not stored.
    pub(super) async fn unstored(&self) -> Vec<Arc<Told>> {
        let mut pile = self.pile.lock().await;
        while pile.unstored.len() < BATCH_MAX {
            let Ok(told) = pile.rx.try_recv() else { break };
            pile.unstored.push_back(told);
        }
        pile.unstored.iter().cloned().collect()
    }

    fn silence(&self) -> Silence {
        lock(&self.shared.end).map_or(Silence::Left, Silence::Fatal)
    }

    /// Hangs up, and waits a little until it is done.
    pub(super) async fn leave(&self) {
        self.leave.send_replace(true);
        drop(timeout(GOODBYE_WAIT, self.leave.closed()).await);
    }

    /// Whether a channel was asked about in vain. The next time it will have been.
    pub(super) fn gives_up(&self, channel: Id) -> bool {
        let mut given_up = lock(&self.given_up);
        if given_up.len() >= GIVEN_UP_MAX {
            given_up.clear();
        }
        !given_up.insert(channel)
    }
}

//! Queues the events of a bot's socket until they are stored.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nightdesk_port::Bot;
use nightdesk_vault::Key;
use tokio::sync::{Mutex as AsyncMutex, mpsc, watch};
use tokio::time::{Instant, timeout};

use super::cursor::SessionCursor;
use super::reconnect::FatalClose;
use super::session::DispatchEvent;
use crate::id::Id;

/// Maximum wait for the first event.
const POLL_FOR: Duration = Duration::from_secs(25);

/// Maximum events per batch.
const BATCH_MAX: usize = 50;

/// Maximum events that are read ahead in the meantime.
const AHEAD_MAX: usize = 64;

/// If the desk has not listened for this long, the socket is left to another node.
const LEFT_AFTER: Duration = Duration::from_secs(15);

/// Time limit of a disconnect.
const GOODBYE_WAIT: Duration = Duration::from_secs(2);

/// Maximum channels whose lookup was given up.
const GIVEN_UP_MAX: usize = 1_000;

/// Reasons why no more events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListenEnd {
    Left,
    Fatal(FatalClose),
}

/// The events of one socket of a bot.
pub(super) struct SocketListener {
    key: Option<Key>,
    pile: AsyncMutex<UnstoredEvents>,
    shared: Arc<SocketState>,
    leave: watch::Sender<bool>,
    given_up: Mutex<HashSet<Id>>,
}

struct UnstoredEvents {
    rx: mpsc::Receiver<Arc<DispatchEvent>>,
    /// Events that were returned or read and are not stored.
    unstored: VecDeque<Arc<DispatchEvent>>,
}

/// State that the ear shares with the driver of its socket.
pub(super) struct SocketState {
    stored: Mutex<Option<SessionCursor>>,
    attention: Mutex<ListenAttention>,
    end: Mutex<Option<FatalClose>>,
}

struct ListenAttention {
    listening: usize,
    since: Instant,
}

/// The driver's side of the channels.
pub(super) struct DriverEnds {
    pub(super) tx: mpsc::Sender<Arc<DispatchEvent>>,
    pub(super) shared: Arc<SocketState>,
    pub(super) leave: watch::Receiver<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SocketState {
    /// Returns the position of the last stored event.
    pub(super) fn stored_cursor(&self) -> Option<SessionCursor> {
        lock(&self.stored).clone()
    }

    /// Returns true if the desk has not listened for a while.
    pub(super) fn is_left(&self) -> bool {
        let attention = lock(&self.attention);
        attention.listening == 0 && attention.since.elapsed() > LEFT_AFTER
    }

    pub(super) fn set_end(&self, fatal: FatalClose) {
        *lock(&self.end) = Some(fatal);
    }
}

/// Marks that the desk listens, while it exists.
struct ListenGuard<'e>(&'e SocketState);

impl<'e> ListenGuard<'e> {
    fn begin(shared: &'e SocketState) -> Self {
        lock(&shared.attention).listening += 1;
        Self(shared)
    }
}

impl Drop for ListenGuard<'_> {
    fn drop(&mut self) {
        let mut attention = lock(&self.0.attention);
        attention.listening -= 1;
        attention.since = Instant::now();
    }
}

impl SocketListener {
    pub(super) fn open(bot: &Bot, stored: Option<SessionCursor>) -> (Arc<Self>, DriverEnds) {
        let (tx, rx) = mpsc::channel(AHEAD_MAX);
        let (leave, left) = watch::channel(false);
        let attention = ListenAttention { listening: 0, since: Instant::now() };
        let shared = Arc::new(SocketState {
            stored: Mutex::new(stored),
            attention: Mutex::new(attention),
            end: Mutex::new(None),
        });
        let pile = AsyncMutex::new(UnstoredEvents { rx, unstored: VecDeque::new() });
        let (key, given_up) = (bot.key.clone(), Mutex::default());
        let ear = Self { key, pile, shared: Arc::clone(&shared), leave, given_up };
        (Arc::new(ear), DriverEnds { tx, shared, leave: left })
    }

    /// Returns true if the socket uses the bot's current key.
    pub(super) fn has_current_key(&self, bot: &Bot) -> bool {
        super::is_current_key(self.key.as_ref(), bot)
    }

    /// Returns true if the socket continues at the cursor. Another node may have moved the cursor in the meantime.
    pub(super) async fn continues_at(&self, cursor: Option<&SessionCursor>) -> bool {
        let pile = self.pile.lock().await;
        let stored = self.shared.stored_cursor();
        cursor == stored.as_ref()
            || cursor.is_some_and(|cursor| pile.unstored.iter().any(|told| told.cursor == *cursor))
    }

    /// Records that all events up to the cursor are stored, and returns them.
    pub(super) async fn confirm_stored(
        &self,
        cursor: Option<&SessionCursor>,
    ) -> Vec<Arc<DispatchEvent>> {
        let mut pile = self.pile.lock().await;
        let Some(cursor) = cursor else { return Vec::new() };
        *lock(&self.shared.stored) = Some(cursor.clone());
        let last = pile.unstored.iter().rposition(|told| cursor.covers(&told.cursor));
        pile.unstored.drain(..last.map_or(0, |last| last + 1)).collect()
    }

    /// Waits a while for an event that is not stored.
    pub(super) async fn wait_for_event(&self) -> Result<(), ListenEnd> {
        let _attending = ListenGuard::begin(&self.shared);
        let mut pile = self.pile.lock().await;
        if pile.unstored.is_empty() {
            match timeout(POLL_FOR, pile.rx.recv()).await {
                Ok(Some(told)) => pile.unstored.push_back(told),
                Ok(None) => return Err(self.end_reason()),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the events that are not stored.
    pub(super) async fn unstored_events(&self) -> Vec<Arc<DispatchEvent>> {
        let mut pile = self.pile.lock().await;
        while pile.unstored.len() < BATCH_MAX {
            let Ok(told) = pile.rx.try_recv() else { break };
            pile.unstored.push_back(told);
        }
        pile.unstored.iter().cloned().collect()
    }

    fn end_reason(&self) -> ListenEnd {
        lock(&self.shared.end).map_or(ListenEnd::Left, ListenEnd::Fatal)
    }

    /// Disconnects, and waits a short time until that is done.
    pub(super) async fn leave(&self) {
        self.leave.send_replace(true);
        drop(timeout(GOODBYE_WAIT, self.leave.closed()).await);
    }

    /// Returns true if the lookup of a channel was already attempted in vain, and records the attempt.
    pub(super) fn record_failed_lookup(&self, channel: Id) -> bool {
        let mut given_up = lock(&self.given_up);
        if given_up.len() >= GIVEN_UP_MAX {
            given_up.clear();
        }
        !given_up.insert(channel)
    }
}

//! The desk's calls, as the platform sees them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_judge::Event;
use nightdesk_port::{
    Bot, Deliver, DeliverError, Platform, PlatformCapabilities, Receipt, Receive, ReceiveError,
    RequestContent, SignedRequest,
};
use nightdesk_testkit::scripted::Scripted;
use nightdesk_types::Send;
use nightdesk_types::send::{Op, STILL_WAKING, TOO_FAST, UNREACHABLE};
use tokio::time::sleep;

use crate::chance::Chance;
use crate::notes::Notes;

/// Maximum latency of one direction of a call.
const WAY_MS_MAX: u64 = 120;

/// Retry delay of a busy platform.
const BUSY_FOR: Duration = Duration::from_secs(1);

/// The connections of all nodes to the platform.
#[derive(Clone, Debug)]
pub struct Outside(Arc<Mutex<Now>>);

#[derive(Debug)]
struct Now {
    chance: Chance,
    /// Calls per thousand that are rate limited.
    busy_per_mille: u64,
    /// Calls per thousand that are executed without a response.
    silent_per_mille: u64,
    cut: BTreeSet<String>,
}

impl Outside {
    /// Creates a platform whose errors follow from the random numbers.
    pub fn of(mut chance: Chance, faulty: bool) -> Self {
        let [busy_per_mille, silent_per_mille] =
            if faulty { [chance.between(0, 60), chance.between(0, 60)] } else { [0, 0] };
        let now = Now { chance, busy_per_mille, silent_per_mille, cut: BTreeSet::new() };
        Self(Arc::new(Mutex::new(now)))
    }

    /// Disconnects a node, or reconnects it.
    pub fn set_cut(&self, node: &str, cut: bool) {
        let mut now = self.now();
        if cut {
            now.cut.insert(node.to_owned());
        } else {
            now.cut.remove(node);
        }
    }

    /// Returns true if a node cannot reach the platform.
    pub fn is_cut(&self, node: &str) -> bool {
        self.now().cut.contains(node)
    }

    fn way(&self) -> Duration {
        self.now().chance.millis(1, WAY_MS_MAX)
    }

    fn is_busy(&self) -> bool {
        let mut now = self.now();
        let busy_per_mille = now.busy_per_mille;
        now.chance.happens(busy_per_mille)
    }

    fn is_silent(&self) -> bool {
        let mut now = self.now();
        let silent_per_mille = now.silent_per_mille;
        now.chance.happens(silent_per_mille)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // The state is consistent at every step, even if a holder panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages that the desk itself writes in a chat.
const NOTICES: [&str; 3] = [STILL_WAKING, TOO_FAST, UNREACHABLE];

/// The adapter on one node.
#[derive(Debug)]
pub struct SimPlatform {
    /// Parses incoming requests, as in all other tests.
    scripted: Arc<Scripted>,
    outside: Outside,
    node: String,
    notes: Notes,
}

impl SimPlatform {
    /// Creates the adapter on the node of this name, which records the platform's calls.
    pub fn on(node: &str, scripted: &Arc<Scripted>, outside: &Outside, notes: &Notes) -> Self {
        let (scripted, outside) = (Arc::clone(scripted), outside.clone());
        Self { scripted, outside, node: node.to_owned(), notes: notes.clone() }
    }

    async fn say(&self, bot: &Bot, chat: &str, nonce: &str) -> Result<Receipt, DeliverError> {
        sleep(self.outside.way()).await;
        if self.outside.is_cut(&self.node) {
            return Err(DeliverError::Unavailable("cut off from the platform".into()));
        }
        if self.outside.is_busy() {
            return Err(DeliverError::RateLimited { retry_after: BUSY_FOR });
        }
        let message_id = Some(format!("m-{nonce}"));
        // No agent asked for the desk's own notices.
        if !NOTICES.contains(&nonce) {
            let [bot, chat, nonce] = [&bot.handle, chat, nonce].map(str::to_owned);
            self.notes.note(Event::PlatEgress { bot, chat, nonce, request: None });
        }
        sleep(self.outside.way()).await;
        if self.outside.is_cut(&self.node) || self.outside.is_silent() {
            return Err(DeliverError::Ambiguous("the answer was lost".into()));
        }
        Ok(Receipt { message_id, ..Receipt::default() })
    }

    fn show(&self, bot: &Bot, chat: &str) {
        let (bot, chat) = (bot.handle.clone(), chat.to_owned());
        self.notes.note(Event::PlatShown { bot, chat, text: String::new() });
    }
}

impl Receive for SimPlatform {
    fn receive(
        &self,
        bot: &Bot,
        request: &SignedRequest<'_>,
    ) -> Result<RequestContent, ReceiveError> {
        self.scripted.receive(bot, request)
    }
}

#[async_trait]
impl Deliver for SimPlatform {
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        if let Op::Send { content, .. } = &send.op {
            return self.say(bot, &send.chat_id, content).await;
        }
        self.show(bot, &send.chat_id);
        Ok(Receipt::default())
    }
}

impl Platform for SimPlatform {
    fn capabilities(&self, bot: &Bot) -> PlatformCapabilities {
        self.scripted.capabilities(bot)
    }
}

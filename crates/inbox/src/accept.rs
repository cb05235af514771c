//! Accept: an admitted event, ready to be written.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use nightdesk_gate::{Admitted, Recipient};
use nightdesk_protocol::{EntryJson, event};
use nightdesk_types::{AgentId, BotId, DataKeyId, Event, NodeEpoch, TenantScope};

/// What tells an event from every other of its bot, in a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DedupeKey([u8; 16]);

impl DedupeKey {
    /// The key of a bot's event.
    pub fn of(bot: BotId, event_key: &str) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(bot.uuid().as_bytes());
        context.update(event_key.as_bytes());
        let digest = context.finish();
        let mut key = [0; 16];
        key.copy_from_slice(&digest.as_ref()[..16]);
        Self(key)
    }

    /// The bytes, as the store keeps them.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// How far a source with a memory of its own has been read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceMark {
    /// Which of the bot's sources: a shard, a poller.
    pub source: String,
    /// The epoch under which this owner reads it. A lower one than the store's is refused.
    pub epoch: NodeEpoch,
    /// Where the source goes on after this event, in its own words.
    pub cursor: String,
}

/// What a platform lent for a session of a recipient, sealed: it is written with the event.
#[derive(Clone, Debug)]
pub struct Bound {
    /// For which recipient.
    pub agent: (TenantScope, AgentId),
    /// For which of its sessions, by the digest of its name.
    pub session: [u8; 32],
    /// Which capability.
    pub kind: String,
    /// The sealed capability.
    pub sealed: Vec<u8>,
    /// Which of the tenant's data keys sealed it.
    pub key: DataKeyId,
    /// For how long it is good.
    pub good_for: Duration,
}

/// An admitted event in the form it is written.
#[derive(Clone, Debug)]
pub struct Accept {
    pub(crate) bot: BotId,
    pub(crate) operator: TenantScope,
    pub(crate) key: DedupeKey,
    pub(crate) chat_id: String,
    pub(crate) json: Result<Arc<EntryJson>, Vec<u8>>,
    pub(crate) recipients: Vec<Recipient>,
    pub(crate) mark: Option<SourceMark>,
    pub(crate) bound: Vec<Bound>,
}

impl Accept {
    /// Writes an admitted event down.
    pub fn of(event: &Admitted<Event>, mark: Option<SourceMark>) -> Self {
        let verified = event.verified();
        let json = event::encode(verified.get(), verified.handle()).map(Arc::new);
        Self {
            bot: verified.bot(),
            operator: verified.operator(),
            key: DedupeKey::of(verified.bot(), verified.get().key()),
            chat_id: verified.get().source().chat_id.clone(),
            json: json.map_err(|_| verified.get().to_json()),
            recipients: event.recipients().to_vec(),
            mark,
            bound: Vec::new(),
        }
    }

    /// The same, with what was lent for it.
    #[must_use]
    pub fn bearing(self, bound: Vec<Bound>) -> Self {
        Self { bound, ..self }
    }

    /// The bot that heard it.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// Who runs that bot.
    pub const fn operator(&self) -> TenantScope {
        self.operator
    }

    /// What tells it from every other event.
    pub const fn key(&self) -> DedupeKey {
        self.key
    }

    /// The chat it came from.
    pub fn chat_id(&self) -> &str {
        &self.chat_id
    }

    /// What is stored of it: its wire form, or what it said if no client could take that.
    pub fn body(&self) -> &[u8] {
        match &self.json {
            Ok(json) => json.as_bytes(),
            Err(body) => body,
        }
    }

    /// Its wire form, if a client could take it. Otherwise it is set aside at once.
    pub fn json(&self) -> Option<&Arc<EntryJson>> {
        self.json.as_ref().ok()
    }

    /// Who receives it.
    pub fn recipients(&self) -> &[Recipient] {
        &self.recipients
    }

    /// What was lent for it.
    pub fn bound(&self) -> &[Bound] {
        &self.bound
    }

    /// How far its source has been read with it.
    pub const fn mark(&self) -> Option<&SourceMark> {
        self.mark.as_ref()
    }
}

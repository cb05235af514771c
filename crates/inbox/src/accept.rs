//! An admitted event in the form in which it is written.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use nightdesk_gate::{AdmittedEvent, Recipient};
use nightdesk_protocol::{EntryJson, event};
use nightdesk_types::{AgentId, BotId, DataKeyId, NodeEpoch, TenantScope};

use crate::AuthorPace;

/// The key of an event within its bot, hashed to a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DedupeKey([u8; 16]);

impl DedupeKey {
    /// Returns the key of a bot's event.
    pub fn from_event_key(bot: BotId, event_key: &str) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(bot.uuid().as_bytes());
        context.update(event_key.as_bytes());
        let digest = context.finish();
        let mut key = [0; 16];
        key.copy_from_slice(&digest.as_ref()[..16]);
        Self(key)
    }

    /// Returns the bytes as the store saves them.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// The read position in a source that stores its own events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceCursor {
    /// The source of the bot: a shard or a poller.
    pub source: String,
    /// The owner's epoch. The store refuses an epoch lower than its own.
    pub epoch: NodeEpoch,
    /// The position after this event, in the source's own format.
    pub cursor: String,
}

/// A sealed capability that a platform lent for a recipient's session. It is written with the event.
#[derive(Clone, Debug)]
pub struct EntryCapability {
    /// The recipient.
    pub agent: (TenantScope, AgentId),
    /// The digest of the session's key.
    pub session: [u8; 32],
    /// The kind of capability.
    pub kind: String,
    /// The sealed capability.
    pub sealed: Vec<u8>,
    /// The tenant's data key that sealed it.
    pub key: DataKeyId,
    /// The lifetime of the capability.
    pub good_for: Duration,
}

/// An admitted event in the form in which it is written.
#[derive(Clone, Debug)]
pub struct AcceptRequest {
    pub(crate) bot: BotId,
    pub(crate) operator: TenantScope,
    pub(crate) key: DedupeKey,
    pub(crate) chat_id: String,
    pub(crate) json: Result<Arc<EntryJson>, Vec<u8>>,
    pub(crate) recipients: Vec<Recipient>,
    /// One for each recipient.
    pub(crate) paces: Vec<AuthorPace>,
    pub(crate) mark: Option<SourceCursor>,
    pub(crate) bound: Vec<EntryCapability>,
}

impl AcceptRequest {
    /// Encodes an admitted event.
    pub fn from_event(event: &AdmittedEvent, mark: Option<SourceCursor>) -> Self {
        let verified = event.verified();
        let json = event::encode(verified.get(), verified.handle()).map(Arc::new);
        Self {
            bot: verified.bot(),
            operator: verified.operator(),
            key: DedupeKey::from_event_key(verified.bot(), verified.get().key()),
            chat_id: verified.get().source().chat_id.clone(),
            json: json.map_err(|_| verified.get().to_json()),
            recipients: event.recipients().to_vec(),
            paces: vec![AuthorPace::Deliver; event.recipients().len()],
            mark,
            bound: Vec::new(),
        }
    }

    /// Returns the same accept with capabilities that were lent for it.
    #[must_use]
    pub fn with_capabilities(self, bound: Vec<EntryCapability>) -> Self {
        Self { bound, ..self }
    }

    /// Returns the same accept with the pace of its author at each recipient, in their order.
    #[must_use]
    pub fn with_paces(mut self, paces: &[AuthorPace]) -> Self {
        for (own, pace) in self.paces.iter_mut().zip(paces) {
            *own = *pace;
        }
        self
    }

    /// Returns the bot that received it.
    pub const fn bot(&self) -> BotId {
        self.bot
    }

    /// Returns the operator of that bot.
    pub const fn operator(&self) -> TenantScope {
        self.operator
    }

    /// Returns the dedupe key.
    pub const fn key(&self) -> DedupeKey {
        self.key
    }

    /// Returns the chat that it came from.
    pub fn chat_id(&self) -> &str {
        &self.chat_id
    }

    /// Returns the stored body: the wire form, or the plain event if no client could take the wire form.
    pub fn body(&self) -> &[u8] {
        match &self.json {
            Ok(json) => json.as_bytes(),
            Err(body) => body,
        }
    }

    /// Returns the wire form. `None`: no client could take it, and the entry is parked at once.
    pub fn json(&self) -> Option<&Arc<EntryJson>> {
        self.json.as_ref().ok()
    }

    /// Returns the recipients.
    pub fn recipients(&self) -> &[Recipient] {
        &self.recipients
    }

    /// Returns the recipients, each with the pace of its author there.
    pub fn paced_recipients(&self) -> impl Iterator<Item = (&Recipient, AuthorPace)> {
        self.recipients.iter().zip(self.paces.iter().copied())
    }

    /// Returns the capabilities that were lent for it.
    pub fn capabilities(&self) -> &[EntryCapability] {
        &self.bound
    }

    /// Returns the position of its source after this event.
    pub const fn source_cursor(&self) -> Option<&SourceCursor> {
        self.mark.as_ref()
    }
}

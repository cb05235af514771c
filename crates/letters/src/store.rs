//! The contract between letters and their store.

use async_trait::async_trait;
use nightdesk_types::{AgentId, LetterId, Seq, StoreError, TenantScope};

use crate::letter::{
    AddressFacts, AddressQuery, DueLetter, Grant, Letter, Party, Peer, PeerLine, Posting,
    PostingOutcome, ReplyOutcome,
};
use crate::receipt::{DeliveryRecord, Receipt};

/// Stores the receipts of letters.
#[async_trait]
pub trait Receipts: Send + Sync {
    /// Stores receipts. A receipt of the same dispatch, connector and address is replaced.
    async fn store_receipts(&self, receipts: &[Receipt]) -> Result<(), StoreError>;

    /// Returns the records of a dispatch, by the name of the connector.
    async fn read_receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<DeliveryRecord>, StoreError>;
}

/// Stores letters.
#[async_trait]
pub trait LetterStore: Send + Sync {
    /// Returns the facts about each address, in order.
    async fn resolve_addresses(
        &self,
        queries: &[AddressQuery],
    ) -> Result<Vec<AddressFacts>, StoreError>;

    /// Puts letters as [`decide_batch`](crate::decide::decide_batch) decides: into the inbox of the agent, which is
    /// woken if it sleeps, or into a row until the letter is due. Returns one outcome for each letter, in order. The
    /// store writes all decisions, or nothing.
    async fn put(&self, postings: &[Posting]) -> Result<Vec<PostingOutcome>, StoreError>;

    /// Returns a letter that is due. Repeated calls return the same until [`LetterStore::record_delivery`] records its delivery.
    /// `None`: no such letter waits, or it may not be delivered any more.
    async fn take_due(&self, to: Party, letter: LetterId) -> Result<Option<DueLetter>, StoreError>;

    /// Records that a due letter is in the inbox under this number, or that another connector delivered it.
    async fn record_delivery(
        &self,
        to: Party,
        letter: LetterId,
        seq: Option<Seq>,
    ) -> Result<(), StoreError>;

    /// Stores an agent's reply to a letter. The first reply in time counts. Either the reply or the end of the wait
    /// counts, and the row shows which.
    async fn store_reply(
        &self,
        by: Party,
        letter: LetterId,
        words: &str,
    ) -> Result<ReplyOutcome, StoreError>;

    /// Returns a letter that an agent sent. If its sender has waited long enough, the letter has timed out.
    async fn letter(&self, from: Party, letter: LetterId) -> Result<Option<Letter>, StoreError>;

    /// Returns letters that an agent sent, newest first, at most one page.
    async fn letters(
        &self,
        from: Party,
        before: Option<LetterId>,
    ) -> Result<Vec<Letter>, StoreError>;

    /// Returns at most `at_most` agents that an agent can write to: its tenant's by name, then those that both granted.
    async fn peers(&self, of: Party, at_most: usize) -> Result<Vec<Peer>, StoreError>;

    /// Returns the line of an agent, if it is up.
    async fn find_line(&self, party: Party) -> Result<Option<PeerLine>, StoreError>;
}

/// Stores the grants for letters between tenants.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Records one side's grant for two agents. Returns true if it is new.
    async fn grant(&self, party: Party, peer: Party) -> Result<bool, StoreError>;

    /// Revokes one side's grant. Returns true if it existed.
    async fn release(&self, party: Party, peer: Party) -> Result<bool, StoreError>;

    /// Returns the first grants of a tenant or of one of its agents, at most so many, by agent and peer.
    async fn grants(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        at_most: usize,
    ) -> Result<Vec<Grant>, StoreError>;
}

/// Stores the webhooks through which external programs send letters as an agent. It has only digests of the secrets.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Creates a webhook with this name for letters from that agent. Returns true if the name was free.
    async fn make_hook(
        &self,
        party: Party,
        name: &str,
        digest: [u8; 32],
    ) -> Result<bool, StoreError>;

    /// Removes a webhook. Returns true if it existed.
    async fn remove_hook(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError>;

    /// Returns the first webhooks of a tenant, at most so many, by name.
    async fn hooks(
        &self,
        scope: TenantScope,
        at_most: usize,
    ) -> Result<Vec<(String, Party)>, StoreError>;

    /// Returns the agent of the webhook whose secret has this digest.
    async fn find_hook_agent(&self, digest: [u8; 32]) -> Result<Option<Party>, StoreError>;
}

/// The whole store of letters.
pub trait Store: LetterStore + Grants + Hooks + Receipts {}

impl<T> Store for T where T: LetterStore + Grants + Hooks + Receipts {}

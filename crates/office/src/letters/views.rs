//! Letters, their webhooks and grants, as callers see and request them.

use nightdesk_letters::{Grant, Letter, Party};
use nightdesk_types::{AgentId, LetterId, Seq, TenantId};
use nightdesk_users::{Access, Place, Right};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::times::seconds;

/// A letter that an agent sent, and its result.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LetterView {
    /// Its id.
    #[schema(value_type = String)]
    pub letter_id: LetterId,
    /// The recipient.
    #[schema(value_type = String)]
    pub to_agent_id: AgentId,
    /// The id of the dispatch: the same id again is the same letter.
    pub dispatch_id: String,
    /// `deliver` or `wake`.
    pub route: &'static str,
    /// `scheduled`, `put`, `replied` or `timed-out`.
    pub state: &'static str,
    /// True if the recipient acknowledged it.
    pub acked: bool,
    /// The length of the chain of letters that it ends.
    pub hop: u32,
    /// Its number in the recipient's inbox.
    pub seq: Option<i64>,
    /// The time of sending.
    pub sent_at: String,
    /// The time at which it is due.
    pub due_at: Option<String>,
    /// The text of the reply, for a caller with the right `messages`.
    pub reply: Option<String>,
    /// The time of the reply.
    pub replied_at: Option<String>,
    /// The reason for which the caller does not see the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_withheld: Option<String>,
}

/// A letter to send in the name of an agent.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLetterRequest {
    /// The recipient, by name or id.
    pub to: String,
    /// The text.
    pub text: String,
    /// The seconds that the sender waits for a reply, at most 300. The response does not wait: read the letter until its
    /// state is `replied` or `timed-out`.
    #[serde(default)]
    pub wait_secs: Option<u64>,
    /// An idempotency key: the same key again is the same letter.
    #[serde(default)]
    pub dispatch_id: Option<String>,
}

/// A webhook by which other programs send letters as an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LetterHookView {
    /// Its name.
    pub name: String,
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
}

/// A webhook that was created: its secret is shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CreatedLetterHook {
    /// Its name.
    pub name: String,
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The address for letters.
    pub url: String,
    /// The address for wakes.
    pub wake_url: String,
    /// The address at which a program checks the webhook.
    pub status_url: String,
    /// The secret.
    pub secret: String,
    /// The next step.
    pub next: &'static str,
}

/// One side's grant for letters between agents of two tenants.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LetterGrantView {
    /// The tenant's agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The other tenant.
    #[schema(value_type = String)]
    pub peer_tenant_id: TenantId,
    /// The other tenant's agent.
    #[schema(value_type = String)]
    pub peer_agent_id: AgentId,
    /// True if the other tenant granted it too.
    pub both_sides: bool,
}

/// A grant for letters that was given or withdrawn.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LetterGrantChange {
    /// The tenant's agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The other tenant.
    #[schema(value_type = String)]
    pub peer_tenant_id: TenantId,
    /// The other tenant's agent.
    #[schema(value_type = String)]
    pub peer_agent_id: AgentId,
    /// True if it is given.
    pub granted: bool,
    /// The next step.
    pub next: &'static str,
}

/// An agent of another tenant, as a caller names it.
#[derive(Clone, Debug)]
pub struct PeerSelector {
    /// The tenant, by name or id.
    pub tenant: String,
    /// The agent, by name or id.
    pub agent: String,
}

/// Returns the view of a letter. A reply is a message, so it needs the right to read messages.
pub(super) fn letter_view(access: &Access, from: Party, letter: Letter) -> LetterView {
    let denial = access.check(Place::Tenant(from.scope.tenant()), Right::ReadMessages).err();
    let (reply, replied_at) = letter.reply.unzip();
    LetterView {
        letter_id: letter.id,
        to_agent_id: letter.to,
        dispatch_id: letter.dispatch_id,
        route: letter.route.slug(),
        state: letter.state.slug(),
        acked: letter.is_acked,
        hop: letter.hop,
        seq: letter.seq.map(Seq::get),
        sent_at: seconds(letter.sent_at),
        due_at: letter.due_at.map(seconds),
        reply_withheld: denial.filter(|_| reply.is_some()).map(|denial| denial.to_string()),
        reply: reply.filter(|_| denial.is_none()),
        replied_at: replied_at.map(seconds),
    }
}

pub(super) fn letter_grant_view(grant: &Grant) -> LetterGrantView {
    LetterGrantView {
        agent_id: grant.party.agent,
        peer_tenant_id: grant.peer.scope.tenant(),
        peer_agent_id: grant.peer.agent,
        both_sides: grant.is_mutual,
    }
}

/// Returns the view of a grant that was given.
pub(super) const fn letter_grant_change(own: Party, peer: Party) -> LetterGrantChange {
    LetterGrantChange {
        agent_id: own.agent,
        peer_tenant_id: peer.scope.tenant(),
        peer_agent_id: peer.agent,
        granted: true,
        next: "the other tenant must grant it too",
    }
}

//! `/v1/letters`, `/v1/agents`: letters between agents.

use serde::{Deserialize, Serialize};

use crate::delivery::{
    AgentDescriptor, AgentStatus, DeliveryOrigin, DeliveryReceipt, Millis, PayloadKind, Response,
    WakeReceipt, When,
};

/// The operation of a letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterOp))]
pub enum LetterOp {
    /// Delivers it, or wakes the agent with it if the address contains an `@`.
    #[default]
    Notify,
    /// Delivers it.
    Deliver,
    /// Wakes the agent with it.
    Wake,
    /// Delivers it and waits for the reply.
    Exchange,
}

/// `POST /v1/letters`: a letter to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterSend))]
pub struct LetterSendRequest {
    /// The operation.
    #[serde(default)]
    pub op: LetterOp,
    /// The recipient: a name or id in the same tenant, or an id in another; with a session after an `@`.
    pub agent: String,
    /// The text.
    #[serde(default)]
    pub message: String,
    /// `augment` for information, `template` for a task.
    #[serde(default)]
    pub kind: PayloadKind,
    /// A key that identifies a repeat: the same key is the same letter. Without it, every call is a new letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<String>,
    /// A label by which the recipient sorts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// The sender's id of the exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The sender's skill, its trigger and its first caller, as the sender's runtime reports them. The sender of the letter
    /// is always the authenticated agent, not this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<DeliveryOrigin>,
    /// The ways of a `notify`: `road`, `webhook`, `file-drop` or `tmux`. Without it, every way that the agent has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connectors: Option<Vec<String>>,
    /// The time of the wake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub when: Option<When>,
    /// The session to wake. It overrides the session in the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The time to wait for a reply, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The response to [`LetterSendRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterSent))]
pub struct LetterSendResponse {
    /// The recipient.
    pub agent: String,
    /// The id of the emit.
    pub dispatch_id: String,
    /// The result per connector. Empty: no connector reaches that agent.
    pub dispatched: Vec<DispatchResult>,
    /// The reply, if the call waited for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
}

/// The result of a letter on one connector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterDispatched))]
pub struct DispatchResult {
    /// The connector.
    pub connector: String,
    /// True if the letter was delivered.
    pub ok: bool,
    /// `deliver` or `wake`.
    pub route: String,
    /// The receipt of a delivered letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<DeliveryReceipt>,
    /// The receipt of a wake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken: Option<WakeReceipt>,
    /// The reason for a failure, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The reason for a failure, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A sent letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Letter))]
pub struct SentLetter {
    /// Its id.
    pub letter_id: String,
    /// The id of the recipient.
    pub agent_id: String,
    /// The id of the emit.
    pub dispatch_id: String,
    /// `deliver` or `wake`.
    pub route: String,
    /// `augment` for information, `template` for a task.
    pub kind: PayloadKind,
    /// `scheduled`, `put`, `replied` or `timed-out`.
    pub state: String,
    /// True if the agent acknowledged it.
    pub acked: bool,
    /// The length of the chain of letters that ends with it, each sent while the previous one was answered.
    pub hop: u32,
    /// The time when it was sent.
    pub sent_at: Millis,
    /// The time when it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Millis>,
    /// The sender's id of the exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The agent's reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The time of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replied_at: Option<Millis>,
    /// The result of the emit per connector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dispatched: Vec<DispatchResult>,
}

/// The response to `GET /v1/letters`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Letters))]
pub struct LetterListResponse {
    /// The letters, newest first, at most one page.
    pub letters: Vec<SentLetter>,
}

/// The response to `GET /v1/agents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentListResponse {
    /// The agents that can receive letters.
    pub agents: Vec<ReachableAgent>,
}

/// An agent that can receive letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReachableAgent {
    /// The agent.
    #[serde(flatten)]
    pub agent: AgentDescriptor,
    /// Its status.
    pub status: AgentStatus,
    /// Its live sessions, which a letter addresses as `agent@session`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
}

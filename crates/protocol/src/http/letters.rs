//! `/v1/letters`, `/v1/agents`: what agents send to each other.

use serde::{Deserialize, Serialize};

use crate::delivery::{
    AgentDescriptor, AgentStatus, DeliveryReceipt, Kind, Millis, Origin, Response, WakeReceipt,
    When,
};

/// What is asked with a letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterOp))]
pub enum Op {
    /// To hand it over, or to wake the agent with it if there is an `@` in the address.
    #[default]
    Notify,
    /// To hand it over.
    Deliver,
    /// To wake the agent with it.
    Wake,
    /// To hand it over and wait for the reply.
    Exchange,
}

/// `POST /v1/letters`: a letter to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterSend))]
pub struct Send {
    /// What is asked.
    #[serde(default)]
    pub op: Op,
    /// For whom: a name or id of the tenant's own, or the id of another's; with a session after an `@`.
    pub agent: String,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// Whether it is to be known or to be done.
    #[serde(default)]
    pub kind: Kind,
    /// By what a repeat is recognised: the same again is the same letter. Without it every call is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<String>,
    /// A label by which the receiver sorts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// By what the sender knows the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Which skill of the sender's says it, and how that came to run. Who called is what was proven, whatever stands here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// When the agent is woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub when: Option<When>,
    /// Which session of the agent is woken. It counts more than one in the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// For how long a reply is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The answer to [`Send`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterSent))]
pub struct Sent {
    /// For whom it was.
    pub agent: String,
    /// The emit.
    pub dispatch_id: String,
    /// What came of it by each way. None: nobody reaches that agent.
    pub dispatched: Vec<Dispatched>,
    /// The reply, if it was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
}

/// What came of a letter by one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LetterDispatched))]
pub struct Dispatched {
    /// The way.
    pub connector: String,
    /// Whether it was handed over.
    pub ok: bool,
    /// `deliver` or `wake`.
    pub route: String,
    /// The receipt of a letter that was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<DeliveryReceipt>,
    /// The receipt of one with which the agent was to be woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken: Option<WakeReceipt>,
    /// Why it was not handed over, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The same, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A letter that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Letter))]
pub struct Shown {
    /// Its id.
    pub letter_id: String,
    /// The id of the agent it is for.
    pub agent_id: String,
    /// The emit that it is of.
    pub dispatch_id: String,
    /// `deliver` or `wake`.
    pub route: String,
    /// Whether it is to be known or to be done.
    pub kind: Kind,
    /// `scheduled`, `put`, `replied` or `timed-out`.
    pub state: String,
    /// Whether the agent acknowledged it.
    pub acked: bool,
    /// How many letters it is the end of, each sent while the one before was answered.
    pub hop: u32,
    /// When it was sent.
    pub sent_at: Millis,
    /// When it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Millis>,
    /// By what the sender knows the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// What the agent replied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// When it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replied_at: Option<Millis>,
    /// What came of the emit by each way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dispatched: Vec<Dispatched>,
}

/// The answer to `GET /v1/letters`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Letters))]
pub struct List {
    /// Newest first, at most a page.
    pub letters: Vec<Shown>,
}

/// The answer to `GET /v1/agents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Agents {
    /// Who can be written to.
    pub agents: Vec<Agent>,
}

/// Somebody who can be written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Agent {
    /// Who.
    #[serde(flatten)]
    pub agent: AgentDescriptor,
    /// How it stands with it.
    pub status: AgentStatus,
}

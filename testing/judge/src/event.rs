//! The events of a history, one per line.
//!
//! All processes of a run are on one machine and read one monotonic clock, so that their times can be compared. A
//! process records its own action before the action, and an observation when it is made: an ack is recorded and then
//! sent, a fault is recorded and then made, and its end is recorded once it is over. So no observer seems to have acted
//! later than it did.

#![expect(missing_docs, reason = "the name of a field says what it is")]

use serde::{Deserialize, Serialize};

/// The parking reason of events whose author is far over the rate limit.
pub const RATE_LIMIT: &str = "rate-limit";

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Time of the machine's monotonic clock.
    #[serde(rename = "t")]
    pub at_ns: u64,
    /// The process that recorded it.
    pub proc: String,
    /// Its number among that process's records, from 1 and without gaps.
    pub n: u64,
    /// The event.
    pub ev: Event,
}

/// An observed event. Every text that a person writes carries its own nonce, so that every observer can trace it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    // the platforms
    /// A platform sends an event to the desk, for these agents. If the source has its own order (a socket, a poll, a
    /// transaction), `order` rises with it.
    PlatSend {
        id: String,
        bot: String,
        chat: String,
        user: String,
        nonce: String,
        expect: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        order: Option<u64>,
    },
    /// The desk's response to one attempt to send it. 0: no response.
    PlatAck { id: String, attempt: u32, status: u16 },
    /// The platform looked the event up in the database before it recorded an ack.
    PlatLook { id: String, found: bool },
    /// A bot's socket at the platform was opened, resumed, identified or closed.
    PlatSock { bot: String, shard: String, socket: String, what: Sock },
    /// The platform issues a capability with an event, valid for so long.
    PlatLend { id: String, capability: String, good_for_ms: u64 },
    /// The desk called the platform with a capability, for this request of a gateway.
    PlatFollowed { bot: String, chat: String, capability: String, request: String },
    /// The desk called the platform, which executed the call.
    PlatEgress { bot: String, chat: String, nonce: String, request: Option<String> },
    /// The desk showed a status: typing, or that an agent is being woken.
    PlatShown { bot: String, chat: String, text: String },

    // the gateways
    /// A gateway dials for an agent.
    GwOpen { conn: String, gateway: String, agent: String },
    /// A gateway received an entry. A passthrough is one that its client never acks, unless it was posted.
    GwRecv {
        conn: String,
        agent: String,
        buffer_id: String,
        nonce: String,
        bytes: u32,
        passthrough: bool,
    },
    /// A gateway acked an entry.
    GwAck { conn: String, agent: String, buffer_id: String },
    /// A gateway's line ended.
    GwClose { conn: String, code: u16, reason: String },
    /// A gateway received a stop of a turn.
    StopRecv { conn: String, agent: String, session: String, chat: String },
    /// A gateway requests a send.
    OutReq { conn: String, agent: String, request: String, chat: String, nonce: String },
    /// A gateway requests a send with the capability of a session.
    FollowReq { conn: String, agent: String, request: String, session: String },
    /// The result of a send.
    OutRes { conn: String, request: String, result: OutResult },
    /// A gateway announced that it goes idle, was frozen, or continues.
    GwState { agent: String, what: GatewayState },

    // the targets
    /// An agent's wake target was called.
    WakeRecv { agent: String },
    /// A connection reached a forbidden address.
    Honeypot { address: String },

    // the agents that have jobs
    /// An agent arms a job. A retry is a separate request. `due_ns` is the instant on the clock of this history.
    JobArm { request: String, agent: String, job: String, fire_at_us: u64, due_ns: u64 },
    /// An agent cancels a job.
    JobCancel { request: String, agent: String, job: String },
    /// The result of either.
    JobAnswer { request: String, answer: JobAnswer },
    /// An agent received a fire.
    FireRecv { receipt: String, agent: String, job: String, fire_at_us: u64, fire_id: String },
    /// The agent's response, and true if the test cut it off.
    FireAnswer { receipt: String, status: u16, cut: bool },

    // the agents that write to each other, and share a shelf
    /// An agent writes to another, which it may or may not do. A question waits for the reply.
    LetterSend { id: String, from: String, to: String, nonce: String, may: bool, asks: bool },
    /// The desk's response to one attempt to send it, possibly with the reply. 0: no response.
    LetterAck {
        id: String,
        attempt: u32,
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<String>,
    },
    /// An agent replies to a letter.
    LetterReply { conn: String, agent: String, nonce: String, words: String },
    /// An agent puts a skill or data on its tenant's shelf. A retry is a separate request.
    ShelfPut { request: String, agent: String, item: String, words: String },
    /// The version of the stored item. `None` if the result is unknown.
    ShelfAnswer { request: String, version: Option<String> },
    /// At the end: the content of an item, if it exists, and all its versions, oldest first.
    ShelfRow { item: String, words: Option<String>, versions: Vec<String> },
    /// An agent of another tenant saw an item.
    ShelfLeak { agent: String, item: String },

    // the driver
    /// A run begins. Without faults nothing is excused.
    Begin { seed: u64, faults: bool },
    /// A gateway was revoked or its secret replaced, and the desk reported that it is done: earlier lines are over.
    Revoked { gateway: String },
    /// A gateway dials with a wrong secret.
    BadSecret { gateway: String },
    /// A person requests the stop of a turn; the agent that runs it, if any.
    StopReq { id: String, chat: String, agent: Option<String> },
    /// An agent can be called, and must be while entries wait for it.
    Wakeable { agent: String },
    /// The desk posts an agent's entries: they are in order in each chat, and several chats have one under way at once.
    Posted { agent: String },
    /// A parking reason that this run will cause, for this nonce. An event that a rate limit may park need not wake an
    /// agent either.
    MayPark { nonce: String, reason: String },
    /// An operator resubmitted a parked entry: it gets a second id.
    Resubmitted { nonce: String },
    /// A fault begins. Its target is one place, or the two ends of a path: `node-1/postgres`. Places begin with their
    /// kind: node, postgres, redis, gateway, platform, target.
    FaultOn { id: String, fault: String, target: String },
    /// A fault ends.
    FaultOff { id: String },
    /// No more events are sent, and all processes had time to finish.
    Quiesce,
    /// A canary secret was found in a forbidden place.
    Canary { place: String },
    /// The audit log was read from end to end, with the fault that was found.
    Audited { fault: Option<String> },
    /// A process that writes a history is about to start: its file must exist.
    Started { proc: String },
    /// A process was killed on purpose and is gone: its file has this many lines, and no end.
    Killed { proc: String, records: u64 },

    // the database, looked at from outside
    /// An entry in the tables.
    Inbox { agent: String, seq: u64, buffer_id: String, state: EntryState },
    /// A parked entry, and the reason.
    Parked { agent: String, seq: u64, buffer_id: String, reason: String },
    /// A fire in the tables, and the reason if it was not taken.
    FireRow {
        fire_id: String,
        agent: String,
        job: String,
        fire_at_us: u64,
        arming: u64,
        state: FireState,
        cause: Option<String>,
    },
    /// The owner of a resource; empty if there is none.
    Lease { resource: String, owner: String, epoch: u64 },

    // the nodes, to explain
    /// A node acquired ownership.
    OwnAcq { resource: String, epoch: u64 },
    /// A node lost ownership.
    OwnLost { resource: String, epoch: u64 },
    /// A node committed a write as the owner.
    Commit { resource: String, epoch: u64 },

    // every process
    /// The process records nothing more. Without this event a history is incomplete.
    End,
}

/// An event of a bot's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sock {
    Open,
    Resume,
    Identify,
    Heartbeat,
    Close,
}

/// The result of a send, as its gateway knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutResult {
    Done,
    Failed,
    Ambiguous,
    /// No result arrived before the gateway gave up or its line ended.
    Nothing,
}

/// The state of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayState {
    Idle,
    Frozen,
    Thawed,
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    Pending,
    Acked,
}

/// The result of a request about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobAnswer {
    Armed,
    Cancelled,
    TooLate,
    Unknown,
    /// The desk did not execute the request and never will.
    Refused,
    /// No clear response: the request may be executed at any later time.
    Nothing,
}

/// The state of a fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FireState {
    Open,
    Held,
    Fired,
    Late,
    Skipped,
    Missed,
}

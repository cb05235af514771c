//! Events: one line of a history each.
//!
//! All processes of a run are on one machine and read one monotonic clock, so that their times
//! can be compared. What a process does it notes before it does it, and what it sees when it saw
//! it: an ack is noted and then sent, a fault is noted and then made, its end is noted once it is
//! over. So no observer seems to have acted later than it did.

#![expect(missing_docs, reason = "the name of a field says what it is")]

use serde::{Deserialize, Serialize};

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When, by the machine's monotonic clock.
    #[serde(rename = "t")]
    pub at_ns: u64,
    /// Which process saw it.
    pub proc: String,
    /// Its place among what that process saw, from 1 and without gaps.
    pub n: u64,
    /// What it saw.
    pub ev: Event,
}

/// What was seen. A text a person writes carries a nonce of its own, so that whoever sees it
/// knows where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    // the platforms
    /// A platform sends an event to the desk, for these agents. Where the source has an order of
    /// its own (a socket, a poll, a transaction), `order` rises with it.
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
    /// The desk answered one attempt to send it. 0: it did not answer.
    PlatAck { id: String, attempt: u32, status: u16 },
    /// Before it noted an ack, the platform looked the event up in the database.
    PlatLook { id: String, found: bool },
    /// A bot's socket at the platform was opened, resumed, identified or closed.
    PlatSock { bot: String, shard: String, socket: String, what: Sock },
    /// With an event it sends, the platform lends something to answer it with, for so long.
    PlatLend { id: String, capability: String, good_for_ms: u64 },
    /// The desk called the platform with what was lent, for this request of a gateway.
    PlatFollowed { bot: String, chat: String, capability: String, request: String },
    /// The desk called the platform, which did as it was asked.
    PlatEgress { bot: String, chat: String, nonce: String, request: Option<String> },
    /// The desk showed something that passes: typing, or that an agent is being woken.
    PlatShown { bot: String, chat: String, text: String },

    // the gateways
    /// A gateway dials for an agent.
    GwOpen { conn: String, gateway: String, agent: String },
    /// It was handed an entry. A passthrough is one that its client never acks.
    GwRecv {
        conn: String,
        agent: String,
        buffer_id: String,
        nonce: String,
        bytes: u32,
        passthrough: bool,
    },
    /// It acknowledged an entry.
    GwAck { conn: String, agent: String, buffer_id: String },
    /// Its line ended.
    GwClose { conn: String, code: u16, reason: String },
    /// It was told to stop a turn.
    StopRecv { conn: String, agent: String, session: String, chat: String },
    /// It asks for something to be said.
    OutReq { conn: String, agent: String, request: String, chat: String, nonce: String },
    /// It asks for something to be said with what was lent to a session.
    FollowReq { conn: String, agent: String, request: String, session: String },
    /// What came of that.
    OutRes { conn: String, request: String, result: OutResult },
    /// It said that it goes idle, was frozen, or goes on.
    GwState { agent: String, what: GatewayState },

    // the targets
    /// An agent's wake target was called.
    WakeRecv { agent: String },
    /// An address was connected to that nobody may be led to.
    Honeypot { address: String },

    // the agents that have jobs
    /// An agent asks to be told of an instant. A retry is a request of its own. `due_ns` is that
    /// instant by the clock of this history.
    JobArm { request: String, agent: String, job: String, fire_at_us: u64, due_ns: u64 },
    /// It asks not to be told any more.
    JobCancel { request: String, agent: String, job: String },
    /// What came of either.
    JobAnswer { request: String, answer: JobAnswer },
    /// An agent was told that it is time.
    FireRecv { receipt: String, agent: String, job: String, fire_at_us: u64, fire_id: String },
    /// What it answered. Whether that was kept from arriving, on purpose.
    FireAnswer { receipt: String, status: u16, cut: bool },

    // the agents that write to each other, and share a shelf
    /// An agent writes to another, which it may or may not; perhaps it asks, and waits for the reply.
    LetterSend { id: String, from: String, to: String, nonce: String, may: bool, asks: bool },
    /// The desk answered one attempt to send it, perhaps with the reply. 0: it did not answer.
    LetterAck {
        id: String,
        attempt: u32,
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<String>,
    },
    /// An agent replies to a letter.
    LetterReply { conn: String, agent: String, nonce: String, words: String },
    /// An agent puts a skill or data on its tenant's shelf. A retry is a request of its own.
    ShelfPut { request: String, agent: String, item: String, words: String },
    /// Under which version it is there. None: nothing clear was said.
    ShelfAnswer { request: String, version: Option<String> },
    /// At the end: what an item says, if it is there, and all its versions, the oldest first.
    ShelfRow { item: String, words: Option<String>, versions: Vec<String> },
    /// An agent of another tenant was shown an item.
    ShelfLeak { agent: String, item: String },

    // the driver
    /// A run begins. Without a fault in it, nothing is excused.
    Begin { seed: u64, faults: bool },
    /// A gateway was revoked, or its secret replaced, and the desk said that it is done: lines
    /// from before are over.
    Revoked { gateway: String },
    /// A gateway dials with a secret that is not its own.
    BadSecret { gateway: String },
    /// Somebody asks for a turn to be stopped; the agent that runs it, if any.
    StopReq { id: String, chat: String, agent: Option<String> },
    /// An agent can be called, and must be while entries wait for it.
    Wakeable { agent: String },
    /// A parking reason that this run will cause, for this nonce.
    MayPark { nonce: String, reason: String },
    /// An operator put a parked entry in again: it gets a second id.
    Resubmitted { nonce: String },
    /// A fault begins. Its target is one place, or the two ends of a path: `node-1/postgres`.
    /// Places begin with what they are: node, postgres, redis, gateway, platform, target.
    FaultOn { id: String, fault: String, target: String },
    /// It ends.
    FaultOff { id: String },
    /// Nothing more is sent, and everybody had time to finish.
    Quiesce,
    /// A canary secret was found where no secret may be.
    Canary { place: String },
    /// The audit log was read from end to end, and what is wrong with it.
    Audited { fault: Option<String> },
    /// A process that writes a history is about to be started: its file must be there.
    Started { proc: String },
    /// It was killed on purpose and is gone: its file has this many lines, and no end.
    Killed { proc: String, records: u64 },

    // the database, looked at from outside
    /// An entry as the tables have it.
    Inbox { agent: String, seq: u64, buffer_id: String, state: EntryState },
    /// An entry that was set aside, and why.
    Parked { agent: String, seq: u64, buffer_id: String, reason: String },
    /// A fire as the tables have it, and why it was not taken.
    FireRow {
        fire_id: String,
        agent: String,
        job: String,
        fire_at_us: u64,
        arming: u64,
        state: FireState,
        cause: Option<String>,
    },
    /// Who owns something. Nobody has no name.
    Lease { resource: String, owner: String, epoch: u64 },

    // the nodes, to explain
    /// A node took ownership.
    OwnAcq { resource: String, epoch: u64 },
    /// A node lost it.
    OwnLost { resource: String, epoch: u64 },
    /// A node committed something as an owner.
    Commit { resource: String, epoch: u64 },

    // every process
    /// It sees nothing more. Without this, a history is not whole.
    End,
}

/// What happened to a bot's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sock {
    Open,
    Resume,
    Identify,
    Heartbeat,
    Close,
}

/// What a gateway was told of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutResult {
    Done,
    Failed,
    Ambiguous,
    /// Nothing came before the gateway gave up or its line ended.
    Nothing,
}

/// What a gateway does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayState {
    Idle,
    Frozen,
    Thawed,
}

/// How an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryState {
    Pending,
    Acked,
}

/// What an agent was told of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobAnswer {
    Armed,
    Cancelled,
    TooLate,
    Unknown,
    /// The desk did not do it, and never will.
    Refused,
    /// Nothing, or nothing clear: it may be done at any time from now on.
    Nothing,
}

/// How a fire stands.
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

//! Connects the stops; the only crate that calls more than one of them.
//!
//! [`inbound`] is the path of a message, [`outbound`] the path of a reply. [`listening`] reads platforms that do not
//! post events. [`mod@line`] implements the requests of lines, [`sweep`] finds entries that the bell missed, [`waking`]
//! calls agents without a line and notifies their people, [`timekeeping`] fires due jobs, [`letters`] connects
//! the letters between agents, [`shelf`] holds the skills and data that they share.

pub mod explaining;
pub mod inbound;
pub mod letters;
pub mod listening;
pub mod outbound;
pub mod line;
pub mod managing;
pub mod relaying;
pub mod shelf;
pub mod sweep;
pub mod timekeeping;
pub mod waking;
mod accounts;
mod capabilities;
mod commands;
mod context;
mod files;
mod hearing;
mod limits;
mod linking;
mod notices;
mod pause;
mod presses;
mod quarantine;
mod ready;
mod refusals;
mod sessions;
mod sight;

use std::sync::Arc;

use nightdesk_bus::Bell;
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::Inbox;
use nightdesk_letters::Letters;
use nightdesk_media::Media;
use nightdesk_register::{Issuers, Register};
use nightdesk_schedule::Schedule;
use nightdesk_wake::Wake;
use tokio_util::task::TaskTracker;

pub use accounts::{Account, Accounts, Adapters};
pub use context::Overheard;
pub use explaining::Records;
pub use files::GiveError;
pub use hearing::Hearing;
pub use limits::{Limits, Raised, What};
pub use presses::Presses;
pub use ready::{Readiness, Unready};
pub use refusals::Refusals;
pub use sessions::Sessions;
pub use shelf::Shelf;
pub use waking::Waking;

/// All stops and services that the modules of this crate use.
#[derive(Debug)]
pub struct Desk {
    /// The identities.
    pub register: Arc<Register>,
    /// The issuers of machine tokens.
    pub issuers: Arc<Issuers>,
    /// The bots and their adapters.
    pub accounts: Arc<Accounts>,
    /// The permissions.
    pub gate: Gate,
    /// Recent refusals of the gate.
    pub refusals: Refusals,
    /// The rate limits.
    pub limits: Limits,
    /// The entries that wait for agents.
    pub inbox: Arc<Inbox>,
    /// The way out.
    pub egress: Arc<Egress>,
    /// Files by reference.
    pub media: Arc<Media>,
    /// The bell.
    pub bell: Ringer,
    /// The records about events.
    pub records: Record,
    /// Calls agents without a line.
    pub wake: Arc<Wake>,
    /// The recent wake notices to chats.
    pub waking: Waking,
    /// Fires due jobs.
    pub schedule: Arc<Schedule>,
    /// Skills and data that agents share.
    pub shelf: Shelf,
    /// The letters between agents.
    pub letters: Arc<Letters>,
    /// The bots that received a message recently.
    pub hearing: Hearing,
    /// Recent messages that were addressed to no agent.
    pub overheard: Overheard,
    /// Button presses that are being answered.
    pub presses: Presses,
    /// Background tasks.
    pub tasks: TaskTracker,
    /// The readiness of this node.
    pub readiness: Readiness,
}

/// The records about events, behind any implementation.
#[derive(Clone)]
pub struct Record(pub Arc<dyn Records>);

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Record")
    }
}

/// The bell, behind any implementation.
#[derive(Clone)]
pub struct Ringer(pub Arc<dyn Bell>);

impl std::fmt::Debug for Ringer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ringer")
    }
}

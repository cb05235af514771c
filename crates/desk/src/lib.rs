//! Desk: the only crate that knows two stops at once.
//!
//! Who wants to know what happens to a message opens [`inbound`]; to an answer, [`outbound`]. [`listening`] is for
//! platforms that must be asked.
//! [`mod@line`] is what the lines ask for, [`sweep`] finds what the bell missed, [`waking`] calls
//! agents that sleep and tells their people, [`timekeeping`] tells agents that their jobs are due, [`letters`] are
//! what they send to each other, [`shelf`] is what they share.

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
pub use letters::{Courier, Letters, Outlet, Ways};
pub use limits::{Limits, Raised, What};
pub use presses::Presses;
pub use ready::{Readiness, Unready};
pub use refusals::Refusals;
pub use sessions::Sessions;
pub use shelf::Shelf;
pub use waking::Waking;

/// Every stop and room, as the pages of this crate use them.
#[derive(Debug)]
pub struct Desk {
    /// Who is who.
    pub register: Arc<Register>,
    /// Who vouches for machines.
    pub issuers: Arc<Issuers>,
    /// Our bots and who speaks for them.
    pub accounts: Arc<Accounts>,
    /// Who may reach whom.
    pub gate: Gate,
    /// What the gate refused lately.
    pub refusals: Refusals,
    /// How often what may be done.
    pub limits: Limits,
    /// What waits for agents.
    pub inbox: Arc<Inbox>,
    /// The way out.
    pub egress: Arc<Egress>,
    /// Files by reference.
    pub media: Arc<Media>,
    /// The bell.
    pub bell: Ringer,
    /// What is written down about events.
    pub records: Record,
    /// Calls agents that sleep.
    pub wake: Arc<Wake>,
    /// Who was told lately that their agent is being woken.
    pub waking: Waking,
    /// Tells agents that their jobs are due.
    pub schedule: Arc<Schedule>,
    /// Skills and data that agents share.
    pub shelf: Shelf,
    /// What agents send to each other.
    pub courier: Courier,
    /// Which bots were talked to lately.
    pub hearing: Hearing,
    /// What was said where agents are, and to none of them.
    pub overheard: Overheard,
    /// Buttons that are being let go.
    pub presses: Presses,
    /// Work that goes on when nobody waits for it.
    pub tasks: TaskTracker,
    /// Whether this node should be given work.
    pub readiness: Readiness,
}

/// What is written down about events, as anything that can be read.
#[derive(Clone)]
pub struct Record(pub Arc<dyn Records>);

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Record")
    }
}

/// The bell, as anything that can be rung.
#[derive(Clone)]
pub struct Ringer(pub Arc<dyn Bell>);

impl std::fmt::Debug for Ringer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ringer")
    }
}

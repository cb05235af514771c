//! Connects the stops; the only crate that calls more than one of them.
//!
//! [`inbound`] is the path of a message, [`outbound`] the path of a reply. [`listening`] reads platforms that do not
//! post events. [`mod@line`] implements the requests of lines, [`sweep`] finds entries that the bell missed, [`waking`]
//! calls agents without a line and notifies their people, [`stopping`] stops running turns, [`timekeeping`] fires due
//! jobs, [`letters`] connects the letters between agents, [`shelf`] holds the skills and data that they share,
//! [`alerting`] sends alerts to tenants and the operator. Each flow is a struct with the stops and flows that it uses;
//! [`Desk::new`] builds most of them from the [`Stops`] of a node.

pub mod alerting;
pub mod explaining;
pub mod inbound;
pub mod letters;
pub mod listening;
pub mod outbound;
mod send_outcome;
pub mod posting;
pub mod line;
pub mod reach_manager;
pub mod relaying;
pub mod shelf;
pub mod stopping;
pub mod sweep;
pub mod timekeeping;
pub mod waking;
mod accounts;
mod capabilities;
mod commands;
mod context;
mod files;
mod reception;
mod limits;
mod linking;
mod notices;
mod pause;
mod press_responder;
mod quarantine;
mod readiness;
mod refusals;
mod resubmitting;
mod session_budgets;
mod visibility_check;

use std::sync::Arc;

use nightdesk_bus::{Bell, LineRegistry};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::Inbox;
use nightdesk_letters::Letters;
use nightdesk_media::Media;
use nightdesk_register::{Issuers, Register};
use nightdesk_schedule::Scheduler;
use nightdesk_wake::Waker;
use tokio_util::task::TaskTracker;

pub use accounts::{Account, Accounts, Adapters};
pub use alerting::{AlertSenders, Alerting};
pub use explaining::Records;
pub use files::FileReadError;
pub use inbound::{Inbound, StoredAgain};
pub use letters::LetterContext;
pub use limits::{LimitedAction, Limits, RateSettings};
pub use line::LineBackend;
pub use listening::Listening;
pub use outbound::Outbound;
pub use reach_manager::ReachManager;
pub use readiness::{Readiness, UnreadyReason};
pub use refusals::Refusals;
pub use session_budgets::SessionBudgets;
pub use shelf::Shelf;
pub use stopping::Stopping;
pub use sweep::Sweeps;
pub use timekeeping::Timekeeping;
pub use waking::Waking;

/// The stops and services of a node. Each flow takes from them what it needs; clones share them.
#[derive(Clone, Debug)]
pub struct Stops {
    /// The identities.
    pub register: Arc<Register>,
    /// The issuers of machine tokens.
    pub issuers: Arc<Issuers>,
    /// The bots and their adapters.
    pub accounts: Arc<Accounts>,
    /// The permissions.
    pub gate: Arc<Gate>,
    /// The rate limits.
    pub limits: Arc<Limits>,
    /// The entries that wait for agents.
    pub inbox: Arc<Inbox>,
    /// The way out.
    pub egress: Arc<Egress>,
    /// Files by reference.
    pub media: Arc<Media>,
    /// The bell.
    pub bell: Arc<dyn Bell>,
    /// The lines of this node, which the bell rings.
    pub lines: Arc<LineRegistry>,
    /// The records about events.
    pub records: Arc<dyn Records>,
    /// Calls agents without a line.
    pub wake: Arc<Waker>,
    /// Fires due jobs.
    pub schedule: Arc<Scheduler>,
    /// Skills and data that agents share.
    pub shelf: Shelf,
    /// The letters between agents.
    pub letters: Arc<Letters>,
    /// Background tasks.
    pub tasks: TaskTracker,
    /// The URL at which platforms reach the desk, without a slash at its end.
    pub public_url: String,
    /// The readiness of this node.
    pub readiness: Readiness,
}

/// The flows of a node.
#[derive(Debug)]
pub struct Desk {
    /// The stops and services that the flows share.
    pub stops: Stops,
    /// Recent refusals of the gate.
    pub refusals: Arc<Refusals>,
    /// The way in.
    pub inbound: Arc<Inbound>,
    /// The requests of lines, and with them the way out.
    pub line: Arc<LineBackend>,
    /// Reads platforms that do not post events.
    pub listening: Arc<Listening>,
    /// Calls agents without a line.
    pub waking: Arc<Waking>,
    /// Stops running turns.
    pub stopping: Arc<Stopping>,
    /// Fires due jobs.
    pub timekeeping: Arc<Timekeeping>,
    /// The services of the desk for letters.
    pub letters: Arc<LetterContext>,
    /// Changes the reach of agents.
    pub reach_manager: ReachManager,
    /// The periodic sweeps.
    pub sweeps: Arc<Sweeps>,
}

impl Desk {
    /// Builds the flows over these stops.
    pub fn new(stops: Stops) -> Self {
        let refusals = Arc::new(Refusals::default());
        let waking = Arc::new(Waking::new(&stops));
        let stopping = Arc::new(Stopping::new(&stops));
        let letters = Arc::new(LetterContext::new(&stops, &waking, &stopping));
        let timekeeping = Arc::new(Timekeeping::new(&stops, &waking));
        let inbound = Arc::new(Inbound::new(&stops, &refusals, &waking, &stopping));
        let outbound = Outbound::new(&stops);
        Self {
            line: Arc::new(LineBackend::new(&stops, outbound, &waking)),
            listening: Arc::new(Listening::new(&stops, &inbound)),
            reach_manager: ReachManager::new(&stops),
            sweeps: Arc::new(Sweeps::new(&stops, &refusals, &waking, &timekeeping)),
            refusals,
            inbound,
            waking,
            stopping,
            timekeeping,
            letters,
            stops,
        }
    }
}

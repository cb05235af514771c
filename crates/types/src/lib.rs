//! Shared types of all stops.
//!
//! No I/O and no runtime. Begin with [`event`] for incoming events, [`send`] for outgoing actions, and [`limits`] for
//! every limit of the desk.

mod macros;
pub mod id;
pub mod backoff;
pub mod rate_limit;
pub mod quota;
pub mod scope;
pub mod stop;
pub mod event;
pub mod send;
pub mod reach;
pub mod client_rules;
pub mod clock;
pub mod node;
pub mod limits;
mod loopback;
pub mod store_error;
pub mod transport;

pub use client_rules::ClientRules;
pub use clock::{Clock, Moment, SystemClock};
pub use event::Event;
pub use id::{
    AgentId, AlertWayId, ApiTokenId, Arming, BotId, BreakGlassId, ClientId, DataKeyId, EntryId,
    FireId, GatewayId, Generation, Incarnation, LeaseBeat, LetterId, NodeEpoch, OwnerEpoch,
    RequestId, ScheduleId, Seq, TenantId, UserId,
};
pub use jiff::Timestamp;
pub use loopback::is_loopback_host;
pub use node::Node;
pub use quota::{OverQuota, Quota};
pub use reach::{GrantTarget, Principal, Relevance, Visibility};
pub use scope::{Actor, TenantScope};
pub use send::Send;
pub use stop::{StopId, StopOutcome, StopReceiver};
pub use store_error::StoreError;
pub use transport::Transport;

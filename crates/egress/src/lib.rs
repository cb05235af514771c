//! Makes an agent's calls to the platform and stores the receipts.
//!
//! # Promise
//!
//! At most one call to a platform is made per request and part, except for calls that the platform reported as not
//! executed. A send whose owner died during a call is `ambiguous` and is never silently repeated. A send whose owner
//! died before the call is made by the next sweep. Calls obey the platform's rate limit: they wait for it and are not
//! dropped. A send that does not finish in time gets a response that says so.
//!
//! Begin with [`Egress`]; [`split()`] cuts a long text into several messages.

mod sync;
mod split;
mod plan;
mod lane;
mod metrics;
mod rate_limits;
mod send_result;
mod account;
mod platform_call;
mod send_file;
mod egress;
mod owner;
mod active_sends;
mod fleeting;
mod commands;
mod past_sends;
mod store;

pub use account::{Account, Accounts, CapabilityRequest, FileError, FileRequest};
pub use egress::{Egress, SendLanes, SendTurn};
pub use fleeting::FleetingAction;
pub use lane::{LaneTurn, Lanes};
pub use metrics::Metrics;
pub use past_sends::{PastSend, PastSends, SendPlace};
pub use rate_limits::RateLimits;
pub use send_result::{MadeMessage, SendResult, SentParts};
pub use split::split;
pub use store::{AbandonedSend, SendKey, SendState, Store, WaitingSend};

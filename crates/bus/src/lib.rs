//! The bell between nodes.
//!
//! # Promise
//!
//! None. The bell is a hint: it carries no bodies and no truth, and no component may depend on it. A node that missed a
//! hint finds the same in the table. [`LineRegistry`] is the bell of one node and receives the hints of the bell between nodes;
//! [`LinesInDoubt`] lists the lines that may have missed a hint.
//!
//! A message between nodes is a [`Ring`] under a [`HintSeal`]: short, signed, and accepted only once.

mod sync;
mod bell;
mod shared_rate_limit;
mod registered_line;
mod line_registry;
mod mark_set;
mod stop_results;
mod wait;
mod lines_in_doubt;
mod seal;
mod hint_history;

pub use bell::{Bell, BellAddress, Ring};
pub use hint_history::HintHistory;
pub use line_registry::LineRegistry;
pub use lines_in_doubt::{LinesInDoubt, spread};
pub use mark_set::{MarkSet, MarkedItems};
pub use registered_line::{LineHints, LineOrder, NewLine, RegisteredLine};
pub use seal::{HintError, HintSeal, VerifiedHint};
pub use shared_rate_limit::{NoSharedRateLimit, SharedRateLimit};
pub use stop_results::{StopResults, StopWait};
pub use wait::{
    ChatKey, SettlementKey, Settlements, Wait, WaitKey, WaitLimit, WaitRegistry, Watch, Watchers,
};

//! Runs the desk's hand-written concurrent structures under every order of their threads.
//!
//! The files of the structures are compiled here a second time. In the product, their `crate::sync` is the lock of the
//! standard library; here it is loom's, under which loom runs a scenario again and again until every order of the lock's
//! operations was tried, up to a bound of preemptions. Signals and channels of tokio are used as they are: they are
//! tested with loom by tokio itself. A lost wake-up is a scenario in which all threads wait, which loom reports.
//!
//! Chosen are the structures whose operations take several steps: a registry with replacement, waits that end when they
//! are dropped, queues with a worker. A structure that does all its work under one lock, such as the counters of rates,
//! failures and addresses, has no other orders than those of its calls. The window of a line has one owner.
//!
//! Each scenario is a function of [`scenarios`]; the tests call them.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a scenario stops at a broken promise"
)]

mod explore;
pub mod scenarios;

pub use explore::{block_on, explore};

/// The lock of the structures below.
pub(crate) mod sync {
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

/// The bell of one node.
#[path = "../../../crates/bus/src"]
#[expect(dead_code, unreachable_pub, reason = "the scenarios use a part of each file")]
mod bus {
    pub(crate) mod bell;
    pub(crate) mod line_registry;
    pub(crate) mod lines_in_doubt;
    pub(crate) mod mark_set;
    pub(crate) mod registered_line;
    pub(crate) mod stop_results;
    pub(crate) mod wait;
}

/// The memory for files.
#[path = "../../../crates/media/src"]
#[expect(dead_code, unreachable_pub, reason = "the scenarios use a part of each file")]
mod media {
    pub(crate) mod memory_budget;
    pub(crate) mod metrics;
}

/// The order of sends.
#[path = "../../../crates/egress/src"]
#[expect(dead_code, unreachable_pub, reason = "the scenarios use a part of each file")]
mod egress {
    pub(crate) mod lane;
}

/// The queue of a writer.
#[path = "../../../crates/inbox/src"]
#[expect(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the scenarios use a part of each file"
)]
mod inbox {
    pub(crate) mod batch;
}

// The files name each other from the root of their crate.
use bus::{bell, lines_in_doubt, mark_set, registered_line, stop_results, wait};
use media::metrics::Metrics;

//! Measures a cell full of armed jobs, many of them due in the same second.
//!
//! [`target`] takes the agents' calls, [`jobs`] arms the jobs, and [`claims`] measures the claim alone, compared with
//! the bare statement.

pub mod claims;
pub mod jobs;
pub mod target;

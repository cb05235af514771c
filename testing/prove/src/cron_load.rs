//! Cron load: a cell full of armed jobs, many of them due in the same second.
//!
//! [`target`] is where agents are called; [`jobs`] arms them; [`claims`] is the claim alone, beside the
//! bare statement.

pub mod claims;
pub mod jobs;
pub mod target;

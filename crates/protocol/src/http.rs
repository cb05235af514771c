//! Http: bodies of the calls that gateways and agents make to the desk.
//!
//! Without its required fields a body is refused; whatever else it holds is read tolerantly.

use serde::{Deserialize, Serialize};

pub mod provision;
pub mod enroll;
pub mod policy;
pub mod manage;
pub mod token;
pub mod cron;

/// What a caller gets beside a status that is not 2xx. Clients show it in their logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// What is wrong, for people.
    pub error: String,
}

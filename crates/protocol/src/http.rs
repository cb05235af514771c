//! Http: bodies of the calls that gateways and agents make to the desk.
//!
//! Without its required fields a body is refused; whatever else it holds is read tolerantly.

pub mod provision;
pub mod enroll;
pub mod policy;
pub mod manage;
pub mod token;
pub mod cron;
pub mod letters;

//! Bodies of the calls that gateways and agents make to the desk.
//!
//! A body without its required fields is refused; all other fields are read tolerantly.

pub mod provision;
pub mod enroll;
pub mod policy;
pub mod manage;
pub mod token;
pub mod cron;
pub mod letters;
pub mod line;
pub mod stops;

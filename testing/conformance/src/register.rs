//! Checks the promises of the register's store: permissions, gateways and their enrolment, bots, the issuer's keys, and
//! lists.

mod entering;
mod gateways;
mod bots;
mod commands;
mod hearing;
mod linking;
mod listing;
mod managing;
mod enrolment;
mod issuer;
mod audit;
mod quota;
pub(super) mod provision;
mod sessions;

pub use audit::*;
pub use bots::*;
pub use commands::*;
pub use enrolment::*;
pub use entering::*;
pub use gateways::*;
pub use hearing::*;
pub use issuer::*;
pub use linking::*;
pub use listing::*;
pub use managing::*;
pub use provision::*;
pub use quota::*;
pub use sessions::*;

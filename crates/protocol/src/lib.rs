//! Every wire contract, in both directions.
//!
//! Tolerant in, exact out: input from a gateway is never an error, only a value that describes the unusable part;
//! output to a gateway can only be built in forms that no client dies of. No I/O and no runtime, so the desk and the
//! SDK share it.
//!
//! Begin with [`frame`] for the frames on the line, [`event`] for the JSON of an entry, and [`upgrade_token`] for a
//! gateway's authentication.

pub mod version;
pub mod frame;
pub mod hello;
pub mod descriptor;
pub mod event;
pub mod source;
pub mod passthrough;
pub mod action;
pub mod outcome;
pub mod session_key;
pub mod session_names;
pub mod upgrade_token;
pub mod bearer;
pub mod close;
pub mod lines;
pub mod http;
pub mod delivery;
pub mod file_head;
pub mod secret;
mod text;
mod tolerant;

pub use bearer::Bearer;
pub use event::EntryJson;
pub use frame::{Frame, FromGateway, ToGateway, TooLong};
pub use secret::Secret;

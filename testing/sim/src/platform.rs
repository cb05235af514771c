//! The simulated platform: it posts people's messages to the desk, and records the desk's calls.

mod says;
mod takes;

pub(crate) use says::chat_of;
pub use says::{Say, live};
pub use takes::{Outside, SimPlatform};

/// The platform's host name.
pub const HOST: &str = "platform";

//! The simulated platform: what people say there comes to the desk, and what the desk says is
//! written down.

mod says;
mod takes;

pub(crate) use says::chat_of;
pub use says::{Say, live};
pub use takes::{Outside, SimPlatform};

/// Its machine.
pub const HOST: &str = "platform";

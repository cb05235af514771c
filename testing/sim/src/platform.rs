//! The simulated platform: what people say there comes to the desk, and what the desk says is
//! written down.

mod says;
mod takes;

pub use says::{Say, live};
pub(crate) use says::chat_of;
pub use takes::{Outside, SimPlatform};

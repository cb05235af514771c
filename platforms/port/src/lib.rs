//! Port: what we ask of a platform.
//!
//! An adapter takes requests ([`Receive`]), makes calls ([`Deliver`]) and says what its
//! platform can do ([`Capabilities`]). It decides nothing: who may see an event is the
//! gate's to say, and when a call is made is the lane's.

mod bot;
mod receive;
mod deliver;
mod capabilities;

pub use bot::Bot;
pub use capabilities::{Capabilities, LengthUnit, Pace};
pub use deliver::{ChatInfo, Deliver, DeliverError, Receipt};
pub use receive::{Receive, ReceiveError, Received, SignedRequest};

/// A platform as the desk holds it.
pub trait Platform: Receive + Deliver {
    /// What this bot can do on its platform.
    fn capabilities(&self, bot: &Bot) -> Capabilities;
}

//! Port: what we ask of a platform.
//!
//! An adapter takes requests ([`Receive`]) or asks for what was said ([`Listen`]), makes calls ([`Deliver`]) and says what its
//! platform can do ([`Capabilities`]). It decides nothing: who may see an event is the
//! gate's to say, and when a call is made is the lane's.

use std::time::Duration;

mod bot;
mod receive;
mod listen;
mod deliver;
mod capabilities;
mod capability;
mod command;
mod eyes;
mod files;

pub use bot::Bot;
pub use capabilities::{Capabilities, LengthUnit, Pace};
pub use capability::Capability;
pub use command::{Command, CommandChange};
pub use deliver::{CAPABILITY_GONE, ChatInfo, Deliver, DeliverError, Receipt};
pub use eyes::Eyes;
pub use files::{FetchError, File, FileBytes, Files};
pub use listen::{Budget, Heard, Listen, ListenError, Part, Posting, Probe, Unlimited};
pub use receive::{Receive, ReceiveError, Received, SignedRequest, Taken};

/// A platform as the desk holds it.
pub trait Platform: Receive + Deliver {
    /// What this bot can do on its platform.
    fn capabilities(&self, bot: &Bot) -> Capabilities;

    /// Where what people say comes in. By any other entrance the bot is not there.
    fn entrance(&self) -> Entrance {
        Entrance::Hook
    }

    /// Whether any of its bots is one to be asked for, or about.
    fn listens(&self) -> bool {
        false
    }

    /// Whom to ask for what people say to this bot; nobody, if the platform tells it by itself.
    fn ear(&self, _bot: &Bot) -> Option<&dyn Listen> {
        None
    }

    /// Whom to ask whether what the platform posts to this bot comes through.
    fn probe(&self, _bot: &Bot) -> Option<&dyn Probe> {
        None
    }

    /// Who fetches what people attach for this bot; nobody, where whoever is told of it can.
    fn files(&self, _bot: &Bot) -> Option<&dyn Files> {
        None
    }

    /// How what was said around a message is known.
    fn context(&self) -> Context {
        Context::Untold
    }

    /// How long it lasts there that somebody is shown to be at work, and no words can be shown with it. `None`:
    /// the words are shown, until something follows.
    fn status_lasts(&self) -> Option<Duration> {
        None
    }

    /// Whether agents can offer commands there.
    fn has_commands(&self) -> bool {
        false
    }

    /// Who can see what there; nobody's, where whoever is in a chat sees all of it.
    fn eyes(&self) -> Option<&dyn Eyes> {
        None
    }
}

/// Where what people say on a platform comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrance {
    /// The platform posts it to the bot's webhook.
    Hook,
    /// They write it on a page of ours.
    Page,
}

/// How what was said around a message is known, to tell it to an agent that was not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// It is not: everybody is told everything, or the platform tells nothing else.
    Untold,
    /// The platform is asked for it, by [`Listen::backfill`].
    Asked,
    /// It was heard, and is remembered for a while.
    Overheard,
}

#![doc = include_str!("../README.md")]

mod limits;
mod settings;
mod url;
mod agent;
mod status;
mod event;
mod place;
mod desk;
mod busy;
mod send_error;
mod session;
mod driver;
mod dial;
mod tls;
mod upgrade;
mod socket;
pub mod wake;
#[cfg(feature = "asking")]
mod desk_client;
#[cfg(feature = "cron")]
pub mod cron;
#[cfg(feature = "peers")]
pub mod peers;

pub use agent::{Agent, AgentError};
pub use busy::Busy;
pub use desk::{Desk, SendReceipt};
pub use event::{Event, ForwardedRequest, Message, Turn};
pub use place::Place;
pub use send_error::SendError;
pub use settings::{BadSettings, Settings};
pub use status::{AgentEnd, Idle, Status, Trouble};

pub use nightdesk_protocol::TooLong;
pub use nightdesk_protocol::action::FollowUp;
pub use nightdesk_protocol::descriptor::{Ability, Descriptor, LenUnit};
pub use nightdesk_protocol::event::Inbound;
pub use nightdesk_protocol::outcome::ChatSummary;
pub use nightdesk_protocol::passthrough::Forward;
pub use nightdesk_protocol::session_key::SessionKey;
pub use nightdesk_protocol::session_names::BadSessionNames;
pub use nightdesk_types::RequestId;
pub use nightdesk_types::event::{
    ChatType, ContextLine, Media, Message as Content, MessageKind, Passthrough, PromptResponse,
    ReplyTo, Source,
};
pub use nightdesk_types::send::{Op, PromptOption};

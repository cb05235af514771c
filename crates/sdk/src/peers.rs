//! Letters to other agents, and the skills and data that agents of a tenant share.
//!
//! An agent that gets a letter finds it in its inbox like any message: `message.content.message.letter` marks it, and
//! [`Message::reply`](crate::Message::reply) answers it. This module is the sender's side.
//!
//! ```no_run
//! use std::error::Error;
//! use std::time::Duration;
//!
//! use nightdesk_sdk::peers::{DataQuery, Letter, Login, NewData, NewSkill, Peers, SkillFilter, SkillStatus};
//!
//! # async fn ask() -> Result<(), Box<dyn Error>> {
//! let peers = Peers::new("https://desk.example", Login::gateway("gw-1", "secret"))?;
//! for known in peers.list_agents().await? {
//!     println!("{}: {:?}", known.agent.agent_id, known.status);
//! }
//! // The dispatch id is an idempotency key, so this call may be repeated.
//! let question = Letter::new("owl", "How is the weather?").dispatch_id("weather-1");
//! let reply = peers.exchange(&question, Duration::from_mins(1)).await?;
//! peers.notify(&Letter::new("owl", &format!("Thank you for {:?}.", reply.content))).await?;
//!
//! peers.skill_write(&NewSkill::new("brief", "# Skill: brief\n# Status: Draft\n")).await?;
//! peers.skill_status("brief", SkillStatus::Approved).await?;
//! println!("{:?}", peers.skill_list(&SkillFilter::default()).await?);
//! let kept = peers.data_write(&NewData::new("The kettle is blue.").tag("kitchen")).await?;
//! println!("{:?} {:?}", peers.data_read(&kept.id).await?, peers.data_query(&DataQuery::new("kettle")).await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Promise
//!
//! A repeated call changes nothing and returns the same answer, if a letter has a dispatch id. Nothing is retried
//! automatically: [`PeerError::passes`] tells if a retry may succeed.

mod letters;
mod shelf;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::{Clock, SystemClock};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use letters::Letter;
pub use nightdesk_protocol::delivery::{
    AgentDescriptor, AgentStatus, DeliveryReceipt, Millis, PayloadKind, Response, WakeReceipt, When,
};
pub use nightdesk_protocol::http::letters::{
    DispatchResult, LetterSendResponse, ReachableAgent, SentLetter,
};
pub use shelf::{
    Catalogue, Change, DataEntry, DataQuery, DataWritten, NewData, NewSkill, Skill, SkillEntry,
    SkillFilter, SkillStatus, SkillWritten,
};

pub use crate::desk_client::{BadDeskSettings, Login};
use crate::desk_client::{DeskCallError, DeskClient, DeskResponse, TokenSource, address, client};
use crate::limits::ASK_WAIT;

/// An agent's client for its peers. Cheap to clone.
#[derive(Clone)]
pub struct Peers {
    asking: Arc<DeskClient>,
}

nightdesk_types::opaque_debug!(Peers);

/// The reason that a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// No response arrived. The call may have been executed.
    #[error("could not {0}: the desk did not respond")]
    Unanswered(&'static str, #[source] Box<dyn Error + Send + Sync>),
    /// The desk refused the call.
    #[error("could not {what}: {detail} ({code}, status {status})")]
    Refused {
        /// The operation.
        what: &'static str,
        /// The HTTP status.
        status: u16,
        /// The reason, for programs: `no-reply`, `letter-refused`, `over-quota`.
        code: String,
        /// The required change.
        detail: String,
    },
    /// The response cannot be read.
    #[error("could not {0}: the desk's response cannot be read")]
    Unreadable(&'static str),
}

impl PeerError {
    /// Returns true if the same call may succeed later.
    pub const fn passes(&self) -> bool {
        match self {
            Self::Unanswered(..) => true,
            Self::Refused { status, .. } => matches!(*status, 408 | 429 | 500..=599),
            Self::Unreadable(_) => false,
        }
    }
}

impl From<DeskCallError> for PeerError {
    fn from(error: DeskCallError) -> Self {
        match error {
            DeskCallError::Unanswered(what, error) => Self::Unanswered(what, error),
            DeskCallError::Refused(what, status) => read_problem(what, status, &[]),
            DeskCallError::Unreadable(what) => Self::Unreadable(what),
        }
    }
}

/// The body of a refusal.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    detail: String,
}

fn read_problem(what: &'static str, status: u16, body: &[u8]) -> PeerError {
    let Problem { code, detail } = serde_json::from_slice(body).unwrap_or_default();
    PeerError::Refused { what, status, code, detail }
}

impl Peers {
    /// Creates a client for the desk at this URL with this login.
    ///
    /// # Errors
    ///
    /// The settings are invalid.
    pub fn new(desk: impl AsRef<str>, login: Login) -> Result<Self, BadDeskSettings> {
        Self::trusting(desk, login, [])
    }

    /// Creates a client that also trusts these certificates, for a desk behind a private authority, as PEM.
    ///
    /// # Errors
    ///
    /// The settings are invalid.
    pub fn trusting(
        desk: impl AsRef<str>,
        login: Login,
        certificates: impl AsRef<[u8]>,
    ) -> Result<Self, BadDeskSettings> {
        let desk = address(desk.as_ref()).ok_or(BadDeskSettings::Desk)?;
        if !login.is_whole() {
            return Err(BadDeskSettings::Login);
        }
        let client = client(certificates.as_ref())?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
        let pass = TokenSource::new(login, &desk, clock);
        Ok(Self { asking: Arc::new(DeskClient::new(client, desk, pass)) })
    }

    async fn get<T: DeserializeOwned>(
        &self,
        what: &'static str,
        path: &str,
    ) -> Result<T, PeerError> {
        read(what, self.asking.request(what, Method::GET, path, None).await?)
    }

    /// Gets an object that may not exist.
    async fn find<T: DeserializeOwned>(
        &self,
        what: &'static str,
        path: &str,
    ) -> Result<Option<T>, PeerError> {
        match self.asking.request(what, Method::GET, path, None).await? {
            DeskResponse { status: 404, .. } => Ok(None),
            answered => read(what, answered).map(Some),
        }
    }

    async fn post<T: DeserializeOwned>(
        &self,
        what: &'static str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, PeerError> {
        self.post_within(ASK_WAIT, what, path, body).await
    }

    async fn post_within<T: DeserializeOwned>(
        &self,
        wait: Duration,
        what: &'static str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, PeerError> {
        let body = serde_json::to_vec(body).map_err(|_| PeerError::Unreadable(what))?;
        let asked = self.asking.request_within(wait, what, Method::POST, path, Some(body));
        read(what, asked.await?)
    }
}

fn read<T: DeserializeOwned>(what: &'static str, answered: DeskResponse) -> Result<T, PeerError> {
    let DeskResponse { status, body } = answered;
    if !(200..300).contains(&status) {
        return Err(read_problem(what, status, &body));
    }
    serde_json::from_slice(&body).map_err(|_| PeerError::Unreadable(what))
}

/// Escapes a text for a path or a query.
fn escape_text(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            // The dot is escaped too: a path segment of two dots would lead to the parent.
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(escape_text("brief-1"), "brief-1");
        assert_eq!(escape_text("../a?b"), "%2E%2E%2Fa%3Fb");
    }

    #[test]
    fn what_is_wrong_is_said_before_anything_is_asked() {
        let new = |desk: &str, login| Peers::new(desk, login).err();
        assert_eq!(new("https://desk.example", Login::token("t")), None);
        assert_eq!(new("desk.example", Login::token("t")), Some(BadDeskSettings::Desk));
        assert_eq!(new("https://desk.example", Login::token("")), Some(BadDeskSettings::Login));
        let pem = Peers::trusting("https://desk.example", Login::token("t"), "none").err();
        assert_eq!(pem, Some(BadDeskSettings::Certificates));
    }

    #[test]
    fn an_error_says_whether_it_passes() {
        let body = br#"{"code":"too-many","detail":"wait"}"#;
        let cases = [(404, false), (403, false), (429, true), (503, true), (504, true)];
        for (status, passes) in cases {
            assert_eq!(read_problem("ask", status, body).passes(), passes, "{status}");
        }
        let said = read_problem("ask", 429, body).to_string();
        assert_eq!(said, "could not ask: wait (too-many, status 429)");
    }
}

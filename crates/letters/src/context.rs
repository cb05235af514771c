//! The sender of a letter, and the lookup of its recipient.

use std::fmt;
use std::sync::Arc;

use nightdesk_protocol::delivery::WakeReceipt;
use nightdesk_types::limits::ADDRESS_BYTES_MAX;
use nightdesk_types::{AgentId, StoreError};

use crate::address::Address;
use crate::backend::LetterBackend;
use crate::decide::{AddressRefusal, decide_recipient};
use crate::error::FailureCause;
use crate::letter::{AddressQuery, Party, PeerLine};
use crate::letters::Letters;

/// The sender's name in a letter from outside the tenant's agents.
const OPERATOR: &str = "operator";
pub(crate) const NOT_DUE: &str = "the letter is stored until it is due";
pub(crate) const NOT_GRANTED: &str =
    "letters to another tenant's agent need a grant from both tenants";

/// A sender, and the parts that its letters need.
#[derive(Clone)]
pub(crate) struct SenderContext {
    pub(crate) letters: Arc<Letters>,
    pub(crate) backend: Arc<dyn LetterBackend>,
    pub(crate) from: Party,
}

impl fmt::Debug for SenderContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderContext").field("from", &self.from).finish_non_exhaustive()
    }
}

impl SenderContext {
    /// Looks up the agent that an address names. `session` overrides the session in the address.
    pub(crate) async fn find_recipient(
        &self,
        address: &str,
        session: Option<&str>,
    ) -> Result<Correspondent, FailureCause> {
        if address.len() > ADDRESS_BYTES_MAX {
            return Err(FailureCause::Invalid(format!(
                "an address has at most {ADDRESS_BYTES_MAX} bytes"
            )));
        }
        let Address { agent, session: addressed, .. } = Address::parse(address);
        let query = AddressQuery { from: self.from, agent: agent.to_owned() };
        let facts =
            self.letters.writer.resolve_address(query.clone()).await.map_err(store_failure)?;
        let recipient = decide_recipient(&query, &facts).map_err(|refusal| match refusal {
            AddressRefusal::UnknownAgent => FailureCause::UnknownAgent,
            AddressRefusal::NotGranted => FailureCause::Refused(NOT_GRANTED),
        })?;
        Ok(Correspondent {
            party: recipient.party,
            name: recipient.name,
            session: session.or(addressed).map(str::to_owned),
            address: address.to_owned(),
            sender: facts.sender.unwrap_or_else(|| OPERATOR.to_owned()),
            is_counted: false,
        })
    }

    /// Returns a receipt that reports a wake only if the agent's line is up and the session of the address lives. If the
    /// agent has no line, the receipt has `warning`.
    pub(crate) fn wake_receipt(
        &self,
        to: &Correspondent,
        live: Option<PeerLine>,
        warning: &str,
    ) -> WakeReceipt {
        let mut receipt = WakeReceipt { woken_at: self.letters.now(), ..WakeReceipt::default() };
        match (live, &to.session) {
            (Some(live), Some(session)) if !live.has_session(session) => {
                let others = [vec![live.session], live.sessions.to_vec()].concat().join(", ");
                receipt.session_id = Some(session.clone());
                receipt.warnings = vec![format!(
                    "the agent is awake in session {others}, not in the named session"
                )];
            }
            (Some(live), session) => {
                let session = live.session_for(session.as_deref());
                (receipt.woken, receipt.session_id) = (true, Some(session));
            }
            (None, session) => {
                receipt.session_id.clone_from(session);
                receipt.warnings = vec![warning.to_owned()];
            }
        }
        receipt
    }
}

/// The recipient of a letter, and the name under which the letter is sent.
#[derive(Clone, Debug)]
pub(crate) struct Correspondent {
    pub(crate) party: Party,
    pub(crate) name: String,
    pub(crate) session: Option<String>,
    /// The address that the sender used.
    pub(crate) address: String,
    pub(crate) sender: String,
    /// True if the letter was counted against the rate limit already, because it goes another way too.
    pub(crate) is_counted: bool,
}

impl Correspondent {
    /// Returns true if the address names no session but this one.
    pub(crate) fn is_in_session(&self, session: &str) -> bool {
        self.session.as_deref().is_none_or(|named| named == session)
    }

    /// Returns the address with the agent's name in place of the id of an own agent.
    pub(crate) fn canonical_address(&self) -> String {
        let agent = Address::parse(&self.address).agent;
        if agent.parse::<AgentId>().is_err() {
            return self.address.clone();
        }
        self.address.replacen(agent, &self.name, 1)
    }
}

/// Logs a failure of the store and returns the cause for the sender.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(crate) fn store_failure(error: StoreError) -> FailureCause {
    let words =
        if error.retryable { "the desk cannot store it now" } else { "the desk cannot store it" };
    let error = &error as &dyn std::error::Error;
    tracing::warn!(error, "a letter could not be addressed or stored");
    FailureCause::Network(words.to_owned())
}

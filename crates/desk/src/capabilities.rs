//! Binds capabilities on the way in and uses them on the way out.
//!
//! A capability that a platform lends for answering an event stays in the desk. An agent names its session and the kind
//! and gets a result; it never sees the capability.

use std::sync::Arc;

use nightdesk_egress::{Egress, SendTurn};
use nightdesk_gate::{AdmitError, AdmittedEvent, AdmittedSend, BotTag, Gate, Sender};
use nightdesk_inbox::{AcceptRequest, EntryCapability, SourceCursor};
use nightdesk_line::AuthenticatedGateway;
use nightdesk_protocol::action::FollowUp;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key;
use nightdesk_register::{
    CapabilityPlace, CapabilitySession, Register, SealedCapability, SessionDigest,
};
use nightdesk_types::send::Op;
use nightdesk_types::{RequestId, Send, StoreError};

use crate::Stops;
use crate::accounts::store_error;

/// Returns an event as the inbox stores it, together with the capability that the platform lent for it.
pub(crate) async fn build_accept(
    register: &Register,
    event: &AdmittedEvent,
    mark: Option<SourceCursor>,
) -> Result<AcceptRequest, StoreError> {
    let verified = event.verified();
    let accept = AcceptRequest::from_event(event, mark);
    let Some(capability) = verified.capability() else { return Ok(accept) };
    let sessions = session_key::of_any_client(verified.get());
    let at = CapabilityPlace { bot: verified.bot(), chat: &verified.get().source().chat_id };
    let mut bound = Vec::new();
    for recipient in event.recipients() {
        let (scope, agent) = (recipient.scope, recipient.agent);
        let sealed = register.bind(scope, agent, at, &sessions, capability).await;
        bound.extend(sealed.map_err(store_error)?.into_iter().map(entry_capability));
    }
    Ok(accept.with_capabilities(bound))
}

fn entry_capability(sealed: SealedCapability) -> EntryCapability {
    let SealedCapability { agent, session, kind, sealed, key, good_for } = sealed;
    EntryCapability { agent, session: *session.bytes(), kind, sealed, key, good_for }
}

/// A follow-up that may be sent, with its turn in the lane.
pub(crate) struct AdmittedFollowUp {
    pub(crate) send: AdmittedSend,
    pub(crate) turn: Option<SendTurn>,
}

/// Admits follow-ups by the capabilities that platforms lent.
#[derive(Debug)]
pub(crate) struct FollowUps {
    register: Arc<Register>,
    gate: Arc<Gate>,
    egress: Arc<Egress>,
}

impl FollowUps {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { register, gate, egress, .. } = stops.clone();
        Self { register, gate, egress }
    }

    /// Turns a follow-up into a send through the bot and to the chat that its capability was lent for, if it was lent
    /// to this agent and session.
    pub(crate) async fn admit(
        &self,
        caller: AuthenticatedGateway,
        greeted: &[BotTag],
        request: RequestId,
        follow_up: FollowUp,
    ) -> Result<AdmittedFollowUp, Outcome> {
        let AuthenticatedGateway { scope, agent, .. } = caller;
        let FollowUp { session_key, kind, content, metadata } = follow_up;
        let lessee = CapabilitySession {
            scope,
            agent,
            session: SessionDigest::from_key(session_key.as_str()),
            kind: &kind,
        };
        let bound =
            self.register.find_capability_place(&lessee).await.map_err(|_| network_error())?;
        let (bot, chat_id) = bound.ok_or_else(no_capability)?;
        // The line must represent that bot, and the gate must still allow the agent there.
        let sender =
            Sender { scope, agent, hellos: greeted, tag: &BotTag::default(), through: Some(bot) };
        let op = Op::FollowUp { session_key: session_key.as_str().to_owned(), kind, content };
        let turn = self.egress.lanes().enter((agent, chat_id.clone()));
        let send = Send { chat_id, op, metadata };
        match self.gate.admit_send(sender, request, send).await {
            Ok(send) => Ok(AdmittedFollowUp { send, turn }),
            Err(AdmitError::Refused(_)) => Err(no_capability()),
            Err(AdmitError::Store(_)) => Err(network_error()),
        }
    }
}

/// The response is the same for absent, expired and foreign capabilities, so a leaked gateway secret reveals nothing.
fn no_capability() -> Outcome {
    Outcome::failed("capability absent or expired")
}

fn network_error() -> Outcome {
    Outcome::unrecorded("the capability could not be read")
}

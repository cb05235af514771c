//! Answers with a capability that was lent to the gateway, and sometimes requests one lent to another agent.

use nightdesk_judge::Event;
use nightdesk_protocol::action::{Action, FollowUp};
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::session_key::{KeySource, SessionKey, Sharing, stock_key};
use nightdesk_protocol::{Frame, ToGateway};
use nightdesk_types::RequestId;

use super::agent::Dialled;
use super::duty::{Duty, OutgoingFrame};
use crate::chance::Dice;
use crate::chaos::manner::Manner;
use crate::chaos::plan::Conversation;
use crate::chaos::platform::is_lent;
use crate::secrets::load::KIND;

/// Percentage of messages after which a gateway requests a capability lent to another agent of its tenant in the same
/// chat, or else to any agent there.
const PRIES_PERCENT: (u64, u64) = (60, 3);

impl Duty {
    /// Follows up on a message, if a capability was lent with it. A client that never acks a passthrough sends nothing,
    /// as with answers.
    pub(super) fn follows(&mut self, dialled: &Dialled<'_>, frame: &ToGateway, dice: &mut Dice) {
        let ToGateway::Inbound { event, .. } = frame else { return };
        if dialled.hall.plan.manners[dialled.member] == Manner::Stock {
            return;
        }
        if is_lent(&event.message.text) {
            let own = stock_key(&KeySource::from(&event.source), &Sharing::default());
            self.follow_up(dialled, own.ok());
        }
        let (kin, others) = neighbours(dialled, &event.source.chat_id);
        let (pries_on, percent) =
            if kin.is_empty() { (others, PRIES_PERCENT.1) } else { (kin, PRIES_PERCENT.0) };
        if dice.percent(percent) && !pries_on.is_empty() {
            let session = session(pries_on[dice.below(pries_on.len())]);
            self.follow_up(dialled, session);
        }
    }

    fn follow_up(&mut self, dialled: &Dialled<'_>, session: Option<SessionKey>) {
        self.followed += 1;
        let request = format!("{}.f{}", dialled.conn, self.followed);
        let Some((session_key, id)) = session.zip(RequestId::new(&*request)) else { return };
        let session = session_key.as_str().to_owned();
        let follow_up = FollowUp {
            session_key,
            kind: KIND.to_owned(),
            content: request.clone(),
            metadata: serde_json::Map::new(),
        };
        let action = Action::FollowUp(follow_up);
        let outbound = Outbound { request_id: id, action, platform: None, bot_handle: None };
        let Ok(frame) = Frame::outbound(&outbound) else { return };
        let (conn, agent) = (dialled.conn.clone(), dialled.agent());
        dialled.hall.notes.note(Event::FollowReq { conn, agent, request, session });
        self.outgoing.push(OutgoingFrame::Frame(frame));
    }
}

/// Returns the other conversations of a chat: those of agents of the same tenant, and the rest.
fn neighbours<'a>(
    dialled: &Dialled<'a>,
    chat: &str,
) -> (Vec<&'a Conversation>, Vec<&'a Conversation>) {
    let plan = &dialled.hall.plan;
    let tenant_of = |member: &usize| plan.cast.members[*member].tenant;
    let is_others = |other: &&Conversation| {
        other.place.chat == chat && !other.seen_by.contains(&dialled.member)
    };
    let is_kin = |other: &&Conversation| {
        other.seen_by.iter().any(|member| tenant_of(member) == tenant_of(&dialled.member))
    };
    plan.conversations.iter().filter(is_others).partition(is_kin)
}

/// Returns the session key by which a client knows a conversation.
fn session(conversation: &Conversation) -> Option<SessionKey> {
    let source = conversation.source().to_string();
    let source: KeySource<'_> = serde_json::from_str(&source).ok()?;
    stock_key(&source, &Sharing::default()).ok()
}

//! Sends the desk's own messages to chats where an agent may write.
//!
//! If an agent cannot be woken, its people are notified in the chats they wrote from. The gate decides as for a send of
//! the agent, so the desk writes nowhere that the agent may not.

use nightdesk_egress::{Fleeting, Settled};
use nightdesk_gate::{AdmitError, AdmittedSend, Sender, Tag};
use nightdesk_types::send::{HELD, Op, UNREACHABLE};
use nightdesk_types::{AgentId, RequestId, Send, StoreError};
use nightdesk_wake::{Claimed, Place};
use serde_json::Map;

use crate::Desk;
use crate::waking::lasts;

/// Shows a status in the chats of a wake, if they got none recently.
pub(crate) async fn show(desk: &Desk, claimed: &Claimed, status: &str) {
    for place in &claimed.places {
        let Some(_room) = desk.waking.room(place.bot, &place.chat_id) else { continue };
        // An agent that is not called is not working, so a platform that shows no text shows nothing.
        if status == HELD && lasts(desk, place.bot).await.is_some() {
            continue;
        }
        let op = Op::Typing { content: Some(status.to_owned()) };
        // Best effort: without the status, people only wait with less information.
        if let Ok(Some(admitted)) = admitted(desk, claimed, place, "waking", op).await
            && let Some(fleeting) = Fleeting::of(&admitted)
        {
            drop(desk.egress.show(&fleeting.of_the_desk()).await);
        }
    }
}

/// Notifies people that the desk gave their agent up: one message in each chat, whichever node sends it. A message that
/// the platform refuses is not retried.
pub(crate) async fn gave_up(desk: &Desk, claimed: &Claimed) -> Result<(), StoreError> {
    for place in &claimed.places {
        if let Some(Settled::Failed(why)) = say(desk, claimed, place).await? {
            not_told(claimed.agent, &why);
        }
    }
    let Claimed { agent, calls, .. } = claimed;
    tracing::warn!(agent.id = %agent, "gave up agent {agent} after {calls} calls");
    desk.wake.told(claimed).await
}

fn not_told(agent: AgentId, why: &str) {
    tracing::warn!(agent.id = %agent, "could not notify the people of agent {agent}: {why}");
}

/// Sends the message to one chat. `None` means that the agent may no longer write there.
async fn say(desk: &Desk, claimed: &Claimed, place: &Place) -> Result<Option<Settled>, StoreError> {
    let op = Op::Send { content: UNREACHABLE.to_owned(), reply_to: None };
    let Some(admitted) = admitted(desk, claimed, place, "unreachable", op).await? else {
        return Ok(None);
    };
    // Without a turn the wake stays due, and the next round sends the message.
    let busy = || StoreError::unavailable("notify people", "too many sends wait for that chat");
    let turn = desk.egress.lanes().enter((claimed.agent, place.chat_id.clone()));
    let mut turn = turn.ok_or_else(busy)?;
    if !turn.come().await {
        return Err(busy());
    }
    desk.egress.deliver(&admitted, &turn).await.map(Some)
}

/// Returns the desk's send in an agent's place, if the gate admits it. The request id identifies a repeat.
async fn admitted(
    desk: &Desk,
    claimed: &Claimed,
    place: &Place,
    kind: &str,
    op: Op,
) -> Result<Option<AdmittedSend>, StoreError> {
    let Claimed { scope, agent, since, .. } = claimed;
    let Place { bot, chat_id } = place;
    let nth = claimed.places.iter().position(|other| other == place).unwrap_or(0);
    let name = format!("desk-{kind}-{}-{nth}", since.as_millisecond());
    let Some(request) = RequestId::new(name) else { return Ok(None) };
    let any = Tag::default();
    let (greeted, tag, through) = (std::slice::from_ref(&any), &any, Some(*bot));
    let sender = Sender { scope: *scope, agent: *agent, greeted, tag, through };
    let send = Send { chat_id: chat_id.clone(), op, metadata: Map::new() };
    match desk.gate.admit_send(sender, request, send).await {
        Ok(admitted) => Ok(Some(admitted)),
        Err(AdmitError::Refused(_)) => Ok(None),
        Err(AdmitError::Store(error)) => Err(error),
    }
}

//! Sends the letter that a request body describes.

use std::time::Duration;

use nightdesk_letters::{ConnectorError, LetterSender, Notify, fresh_id, now_millis};
use nightdesk_protocol::delivery::{Meta, Origin, Payload, WakeOpts};
use nightdesk_protocol::http::letters::{Op, Send, Sent};
use nightdesk_types::limits::EXCHANGE_WAIT;

use super::shown::{delivered, dispatched, woken};

/// Sends a letter and returns its outcome.
pub(crate) async fn send(letters: &LetterSender, requested: Send) -> Result<Sent, ConnectorError> {
    let dispatch_id = requested.dispatch_id.clone().unwrap_or_else(fresh_id);
    let agent = requested.agent.clone();
    let (dispatched, response) = match requested.op {
        Op::Notify => {
            let outcome = letters.notify(&notify(requested, &dispatch_id)).await?;
            (outcome.records.iter().map(dispatched).collect(), None)
        }
        Op::Deliver => {
            let payload = payload(letters, &requested, &dispatch_id);
            let (way, receipt) = letters.deliver(&agent, &payload).await?;
            (vec![delivered(way, receipt)], None)
        }
        Op::Wake => {
            let meta = Some(Box::new(meta(letters, &requested, &dispatch_id)));
            let context = Some(requested.message).filter(|text| !text.is_empty());
            let opts =
                WakeOpts { context, when: requested.when, session_id: requested.session_id, meta };
            let (way, receipt) = letters.wake(&agent, &opts).await?;
            (vec![woken(way, receipt)], None)
        }
        Op::Exchange => {
            let payload = payload(letters, &requested, &dispatch_id);
            let wait = requested.timeout_ms.map_or(EXCHANGE_WAIT, Duration::from_millis);
            (Vec::new(), Some(letters.exchange(&agent, &payload, wait).await?))
        }
    };
    Ok(Sent { agent, dispatch_id, dispatched, response })
}

fn notify(send: Send, dispatch_id: &str) -> Notify {
    Notify {
        dispatch_id: Some(dispatch_id.to_owned()),
        address: send.agent,
        words: send.message,
        kind: send.kind,
        event_type: send.event_type,
        correlation_id: send.correlation_id,
        origin: send.origin,
        connectors: None,
    }
}

fn payload(letters: &LetterSender, send: &Send, dispatch_id: &str) -> Payload {
    send.kind.of(send.message.clone(), meta(letters, send, dispatch_id))
}

/// The origin of a letter. The sender is the authenticated agent, also if the body names another.
fn meta(letters: &LetterSender, send: &Send, dispatch_id: &str) -> Meta {
    Meta {
        dispatch_id: dispatch_id.to_owned(),
        sent_at: now_millis(),
        origin: Origin {
            caller_agent_id: Some(letters.from().agent.to_string()),
            ..send.origin.clone().unwrap_or_else(|| Origin::anonymous(None))
        },
        event_type: send.event_type.clone(),
        correlation_id: send.correlation_id.clone(),
    }
}

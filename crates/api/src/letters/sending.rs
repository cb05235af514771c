//! Sending: what a body asks, as letters are sent.

use std::time::Duration;

use nightdesk_courier::{ConnectorError, Notify, fresh_id};
use nightdesk_desk::Letters;
use nightdesk_protocol::delivery::{Meta, Origin, Payload, WakeOpts};
use nightdesk_protocol::http::letters::{Op, Send, Sent};
use nightdesk_types::limits::EXCHANGE_WAIT;

use super::shown::{delivered, dispatched, woken};

/// Sends a letter, and says what came of it.
pub(crate) async fn send(letters: &Letters, asked: Send) -> Result<Sent, ConnectorError> {
    let dispatch_id = asked.dispatch_id.clone().unwrap_or_else(fresh_id);
    let agent = asked.agent.clone();
    let (dispatched, response) = match asked.op {
        Op::Notify => {
            let came = letters.notify(&notify(asked, &dispatch_id)).await?;
            (came.records.iter().map(dispatched).collect(), None)
        }
        Op::Deliver => {
            let payload = payload(letters, &asked, &dispatch_id);
            (vec![delivered(letters.deliver(&agent, &payload).await?)], None)
        }
        Op::Wake => {
            let meta = Some(Box::new(meta(letters, &asked, &dispatch_id)));
            let context = Some(asked.message).filter(|words| !words.is_empty());
            let opts = WakeOpts { context, when: asked.when, session_id: asked.session_id, meta };
            (vec![woken(letters.wake(&agent, &opts).await?)], None)
        }
        Op::Exchange => {
            let payload = payload(letters, &asked, &dispatch_id);
            let wait = asked.timeout_ms.map_or(EXCHANGE_WAIT, Duration::from_millis);
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

fn payload(letters: &Letters, send: &Send, dispatch_id: &str) -> Payload {
    send.kind.of(send.message.clone(), meta(letters, send, dispatch_id))
}

/// From where a letter comes. Who sends it is what was proven, and nothing else.
fn meta(letters: &Letters, send: &Send, dispatch_id: &str) -> Meta {
    Meta {
        dispatch_id: dispatch_id.to_owned(),
        sent_at: letters.now(),
        origin: Origin {
            caller_agent_id: Some(letters.from().agent.to_string()),
            ..send.origin.clone().unwrap_or_else(|| Origin::anonymous(None))
        },
        event_type: send.event_type.clone(),
        correlation_id: send.correlation_id.clone(),
    }
}

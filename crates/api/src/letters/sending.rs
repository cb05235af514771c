//! Sends the letter that a request body describes.

use std::time::Duration;

use nightdesk_letters::{ConnectorError, FailureCause, LetterSender, NotifyRequest, new_id};
use nightdesk_protocol::delivery::{DeliveryOrigin, Meta, Payload, WakeOpts};
use nightdesk_protocol::http::letters::{LetterOp, LetterSendRequest, LetterSendResponse};
use nightdesk_types::limits::EXCHANGE_WAIT;

use super::responses::{delivery_result, dispatch_result, wake_result};

const ONLY_NOTIFY: &str = "only a notify goes several ways; leave connectors out, or use op notify";

/// Sends a letter and returns its outcome.
pub(crate) async fn send(
    letters: &LetterSender,
    requested: LetterSendRequest,
) -> Result<LetterSendResponse, ConnectorError> {
    let dispatch_id = requested.dispatch_id.clone().unwrap_or_else(new_id);
    let agent = requested.agent.clone();
    if requested.connectors.is_some() && requested.op != LetterOp::Notify {
        return Err(FailureCause::Invalid(ONLY_NOTIFY.to_owned()).into_error(&agent));
    }
    let (dispatched, response) = match requested.op {
        LetterOp::Notify => {
            let outcome = letters.notify(&notify(requested, &dispatch_id)).await?;
            (outcome.records.iter().map(dispatch_result).collect(), None)
        }
        LetterOp::Deliver => {
            let payload = payload(letters, &requested, &dispatch_id);
            let (way, receipt) = letters.deliver(&agent, &payload).await?;
            (vec![delivery_result(way, receipt)], None)
        }
        LetterOp::Wake => {
            let meta = Some(Box::new(meta(letters, &requested, &dispatch_id)));
            let context = Some(requested.message).filter(|text| !text.is_empty());
            let opts =
                WakeOpts { context, when: requested.when, session_id: requested.session_id, meta };
            let (way, receipt) = letters.wake(&agent, &opts).await?;
            (vec![wake_result(way, receipt)], None)
        }
        LetterOp::Exchange => {
            let payload = payload(letters, &requested, &dispatch_id);
            let wait = requested.timeout_ms.map_or(EXCHANGE_WAIT, Duration::from_millis);
            (Vec::new(), Some(letters.exchange(&agent, &payload, wait).await?))
        }
    };
    Ok(LetterSendResponse { agent, dispatch_id, dispatched, response })
}

fn notify(send: LetterSendRequest, dispatch_id: &str) -> NotifyRequest {
    NotifyRequest {
        dispatch_id: Some(dispatch_id.to_owned()),
        address: send.agent,
        words: send.message,
        kind: send.kind,
        event_type: send.event_type,
        correlation_id: send.correlation_id,
        origin: send.origin,
        connectors: send.connectors,
    }
}

fn payload(letters: &LetterSender, send: &LetterSendRequest, dispatch_id: &str) -> Payload {
    send.kind.make_payload(send.message.clone(), meta(letters, send, dispatch_id))
}

/// Returns the meta of a letter. Without a skill in the body, the caller is the authenticated agent.
fn meta(letters: &LetterSender, send: &LetterSendRequest, dispatch_id: &str) -> Meta {
    Meta {
        dispatch_id: dispatch_id.to_owned(),
        sent_at: letters.now(),
        origin: send
            .origin
            .clone()
            .filter(DeliveryOrigin::is_of_skill)
            .unwrap_or_else(|| DeliveryOrigin::anonymous(Some(letters.from().agent.to_string()))),
        sender: None,
        event_type: send.event_type.clone(),
        correlation_id: send.correlation_id.clone(),
    }
}

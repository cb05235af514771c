//! The outcome of a send, as its agent gets it.

use nightdesk_egress::SendResult;
use nightdesk_port::Receipt;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::StoreError;

/// Returns the outcome of a send of which nothing was executed.
pub(crate) fn unstored_outcome(error: &StoreError) -> Outcome {
    match error.over_quota() {
        Some(over) => Outcome::failed(over.to_string()),
        None => Outcome::unrecorded("the database did not answer"),
    }
}

/// Returns the outcome of a send with this result.
pub(crate) fn send_outcome(settled: SendResult) -> Outcome {
    match settled {
        SendResult::Delivered(Receipt { chat: Some(chat), .. }) => {
            Outcome::chat(chat.name, chat.kind)
        }
        SendResult::Delivered(Receipt { message_id, thread_id, chat: None, is_plain }) => {
            let outcome = Outcome::delivered(message_id);
            let outcome = if is_plain { outcome.with_plain_note() } else { outcome };
            match thread_id {
                Some(thread) => outcome.with_thread(thread, None),
                None => outcome,
            }
        }
        // A reply or an edit refers to the first part.
        SendResult::InParts(parts) if parts.is_whole() => {
            send_outcome(SendResult::Delivered(parts.said.into_iter().next().unwrap_or_default()))
        }
        SendResult::InParts(parts) => Outcome::partial(parts.said.len(), parts.of),
        SendResult::Failed(why) => Outcome::failed(why),
        SendResult::Ambiguous => Outcome::ambiguous(),
    }
}

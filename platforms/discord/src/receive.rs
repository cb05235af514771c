//! Receives signed requests to a bot's interactions endpoint.

use std::sync::atomic::{AtomicU64, Ordering};

use nightdesk_kit::webhook::{check_unambiguous, read_json};
use nightdesk_port::{
    Bot, Receive, ReceiveError, ReceiveOutcome, RequestContent, SignedRequest, WebhookAnswer,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Discord;
use crate::events::{BUTTON, COMMAND, NoChannels, convert_event};

mod signature;

pub use signature::{SIGNATURE_HEADER, TIMESTAMP_HEADER};

/// Interaction type of Discord's endpoint check.
const PING: u8 = 1;

/// Flag of a response that only one person sees.
const FOR_ONE: u64 = 1 << 6;

/// Counts parsed requests. Tests check that no unsigned request is parsed.
#[derive(Debug, Default)]
pub(crate) struct ReadCounter(AtomicU64);

impl ReadCounter {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Deserialize)]
struct InteractionKind {
    #[serde(rename = "type")]
    kind: u8,
}

impl Receive for Discord {
    fn receive(
        &self,
        bot: &Bot,
        request: &SignedRequest<'_>,
    ) -> Result<RequestContent, ReceiveError> {
        signature::check(bot, request, self.clock.now())?;
        self.reads.count();
        if let Err(error) = check_unambiguous(request.body) {
            return Ok(RequestContent::Events(vec![Err(error)]));
        }
        let asked: Result<InteractionKind, _> = read_json(request.body);
        if asked.is_ok_and(|asked| asked.kind == PING) {
            let pong = json!({ "type": PING }).to_string();
            return Ok(RequestContent::Challenge(WebhookAnswer::json(pong)));
        }
        // An interaction contains its channel.
        match convert_event(bot, &NoChannels, "INTERACTION_CREATE", request.body) {
            Ok(Some((draft, Some(capability)))) => {
                Ok(RequestContent::Bearing(Box::new(draft), capability))
            }
            Ok(said) => {
                Ok(RequestContent::Events(said.into_iter().map(|(draft, _)| Ok(draft)).collect()))
            }
            Err(error) => Ok(RequestContent::Events(vec![Err(error)])),
        }
    }

    /// Builds the answer, which Discord shows at once. Only a stored command gets "Thinking…".
    fn answer(&self, request: &SignedRequest<'_>, taken: ReceiveOutcome) -> Option<WebhookAnswer> {
        let asked: Result<InteractionKind, _> = read_json(request.body);
        let kind = asked.map_or(0, |asked| asked.kind);
        Some(WebhookAnswer::json(interaction_response(kind, taken).to_string()))
    }
}

/// Returns the response to an interaction of this type.
pub(crate) fn interaction_response(kind: u8, taken: ReceiveOutcome) -> Value {
    match (kind, taken) {
        (COMMAND, ReceiveOutcome::Kept) => json!({ "type": 5 }),
        // An autocomplete request gets an empty list of choices.
        (4, _) => json!({ "type": 8, "data": { "choices": [] } }),
        (BUTTON, ReceiveOutcome::Kept) => json!({ "type": 6 }),
        (_, ReceiveOutcome::Kept | ReceiveOutcome::Refused) => {
            private_response("No agent here may answer you.")
        }
        (_, ReceiveOutcome::NotKept) => {
            private_response("This could not be saved. Please try again in a moment.")
        }
    }
}

fn private_response(content: &str) -> Value {
    json!({ "type": 4, "data": { "flags": FOR_ONE, "content": content } })
}

#[cfg(test)]
mod tests;

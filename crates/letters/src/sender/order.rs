//! Letters that a person sends in the name of an agent.

use std::time::Duration;

use nightdesk_protocol::delivery::{DeliveryReceipt, PayloadKind};

use super::LetterSender;
use crate::context::store_failure;
use crate::delivery_method::DeliveryMethod;
use crate::error::{ConnectorError, FailureCause};
use crate::letter::{Letter, Route};
use crate::put::LetterDraft;
use crate::receipt::DeliveryOutcome;

/// A letter that a person sends in the name of an agent.
#[derive(Clone, Debug)]
pub struct LetterOrder {
    /// The recipient's address.
    pub address: String,
    /// The text.
    pub words: String,
    /// The id of the dispatch: the same id again is the same letter.
    pub dispatch_id: String,
    /// The time that the sender waits for the reply.
    pub wait: Option<Duration>,
}

impl LetterSender {
    /// Puts a letter and returns its row, without waiting for the reply. If the recipient's letters do not go through its
    /// inbox, the letter is due at once: the schedule delivers it, and retries a delivery that fails.
    pub async fn put(&self, order: &LetterOrder) -> Result<Letter, ConnectorError> {
        let to = self.0.find_recipient(&order.address, None).await?;
        let has_outlet = self.0.outlet(to.party).is_some();
        if has_outlet && order.wait.is_some() {
            return Err(ConnectorError::NotImplemented("request_response"));
        }
        let draft = LetterDraft {
            route: Route::Deliver,
            kind: PayloadKind::Augment,
            words: &order.words,
            dispatch_id: &order.dispatch_id,
            event_type: None,
            correlation_id: order.wait.map(|_| order.dispatch_id.as_str()),
            origin: None,
            when: has_outlet.then(|| self.letters().clock.now()),
            wait: order.wait,
            by_outlet: has_outlet,
        };
        let put = self.0.context.put(&to, &draft).await;
        let put = put.map_err(|cause| cause.into_error(&order.address));
        // The schedule counts a letter that it delivers.
        if !has_outlet {
            self.count_put(put.as_ref().err());
        }
        let row = self.show(put?.letter()).await;
        let row = row.map_err(|error| store_failure(error).into_error(&order.address))?;
        row.ok_or_else(|| FailureCause::UnknownAgent.into_error(&order.address))
    }

    /// Counts a letter for an inbox, and its result.
    fn count_put(&self, error: Option<&ConnectorError>) {
        let delivered_at = self.now();
        let outcome = error.map_or_else(
            || DeliveryOutcome::Delivered(DeliveryReceipt { delivered_at, ..<_>::default() }),
            |error| DeliveryOutcome::Failed(error.clone().into()),
        );
        let metrics = &self.letters().metrics;
        metrics.count_letter(DeliveryMethod::Road);
        metrics.count_outcome(DeliveryMethod::Road, &outcome);
    }
}

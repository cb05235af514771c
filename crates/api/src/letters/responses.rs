//! Letters and receipts in responses.

use nightdesk_letters::{
    DeliveryMethod, DeliveryOutcome, DeliveryRecord, Letter, LetterSender, Route,
};
use nightdesk_protocol::delivery::{DeliveryReceipt, Millis, WakeReceipt};
use nightdesk_protocol::http::letters::{DispatchResult, SentLetter};
use nightdesk_types::{LetterId, StoreError, Timestamp};

/// Reads a letter with its outcome.
pub(super) async fn find(
    letters: &LetterSender,
    id: LetterId,
) -> Result<Option<SentLetter>, StoreError> {
    let Some(letter) = letters.show(id).await? else { return Ok(None) };
    let records = letters.receipts(&letter.dispatch_id).await?;
    Ok(Some(sent_letter(letter, &records)))
}

pub(super) fn sent_letter(letter: Letter, records: &[DeliveryRecord]) -> SentLetter {
    let (reply, replied_at) = letter.reply.unzip();
    SentLetter {
        letter_id: letter.id.to_string(),
        agent_id: letter.to.to_string(),
        dispatch_id: letter.dispatch_id,
        route: letter.route.slug().to_owned(),
        kind: letter.kind,
        state: letter.state.slug().to_owned(),
        acked: letter.is_acked,
        hop: letter.hop,
        sent_at: to_millis(letter.sent_at),
        due_at: letter.due_at.map(to_millis),
        correlation_id: letter.correlation_id,
        reply,
        replied_at: replied_at.map(to_millis),
        dispatched: records.iter().map(dispatch_result).collect(),
    }
}

fn to_millis(moment: Timestamp) -> Millis {
    Millis(moment.as_millisecond())
}

pub(super) fn dispatch_result(record: &DeliveryRecord) -> DispatchResult {
    let empty = empty_result(&record.connector, record.route);
    match record.outcome.clone() {
        DeliveryOutcome::Delivered(receipt) => DispatchResult { delivered: Some(receipt), ..empty },
        DeliveryOutcome::Woken(receipt) => DispatchResult { woken: Some(receipt), ..empty },
        DeliveryOutcome::Failed(failure) => DispatchResult {
            ok: false,
            cause: Some(failure.cause),
            error: Some(failure.words),
            ..empty
        },
    }
}

pub(super) fn delivery_result(way: DeliveryMethod, receipt: DeliveryReceipt) -> DispatchResult {
    DispatchResult { delivered: Some(receipt), ..empty_result(way.slug(), Route::Deliver) }
}

pub(super) fn wake_result(way: DeliveryMethod, receipt: WakeReceipt) -> DispatchResult {
    DispatchResult { woken: Some(receipt), ..empty_result(way.slug(), Route::Wake) }
}

fn empty_result(connector: &str, route: Route) -> DispatchResult {
    DispatchResult {
        connector: connector.to_owned(),
        ok: true,
        route: route.slug().to_owned(),
        delivered: None,
        woken: None,
        cause: None,
        error: None,
    }
}

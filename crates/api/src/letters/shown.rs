//! Letters and receipts in responses.

use nightdesk_letters::{DeliveryOutcome, Letter, LetterSender, Record, Route, Way};
use nightdesk_protocol::delivery::{DeliveryReceipt, Millis, WakeReceipt};
use nightdesk_protocol::http::letters::{Dispatched, Shown};
use nightdesk_types::{LetterId, StoreError, Timestamp};

/// Reads a letter with its outcome.
pub(super) async fn find(
    letters: &LetterSender,
    id: LetterId,
) -> Result<Option<Shown>, StoreError> {
    let Some(letter) = letters.show(id).await? else { return Ok(None) };
    let records = letters.receipts(&letter.dispatch_id).await?;
    Ok(Some(shown(letter, &records)))
}

pub(super) fn shown(letter: Letter, records: &[Record]) -> Shown {
    let (reply, replied_at) = letter.reply.unzip();
    Shown {
        letter_id: letter.id.to_string(),
        agent_id: letter.to.to_string(),
        dispatch_id: letter.dispatch_id,
        route: letter.route.slug().to_owned(),
        kind: letter.kind,
        state: letter.state.slug().to_owned(),
        acked: letter.is_acked,
        hop: letter.hop,
        sent_at: at(letter.sent_at),
        due_at: letter.due_at.map(at),
        correlation_id: letter.correlation_id,
        reply,
        replied_at: replied_at.map(at),
        dispatched: records.iter().map(dispatched).collect(),
    }
}

fn at(moment: Timestamp) -> Millis {
    Millis(moment.as_millisecond())
}

pub(super) fn dispatched(record: &Record) -> Dispatched {
    let empty = by(&record.connector, record.route);
    match record.outcome.clone() {
        DeliveryOutcome::Delivered(receipt) => Dispatched { delivered: Some(receipt), ..empty },
        DeliveryOutcome::Woken(receipt) => Dispatched { woken: Some(receipt), ..empty },
        DeliveryOutcome::Failed(failure) => Dispatched {
            ok: false,
            cause: Some(failure.cause),
            error: Some(failure.words),
            ..empty
        },
    }
}

pub(super) fn delivered(way: Way, receipt: DeliveryReceipt) -> Dispatched {
    Dispatched { delivered: Some(receipt), ..by(way.slug(), Route::Deliver) }
}

pub(super) fn woken(way: Way, receipt: WakeReceipt) -> Dispatched {
    Dispatched { woken: Some(receipt), ..by(way.slug(), Route::Wake) }
}

fn by(connector: &str, route: Route) -> Dispatched {
    Dispatched {
        connector: connector.to_owned(),
        ok: true,
        route: route.slug().to_owned(),
        delivered: None,
        woken: None,
        cause: None,
        error: None,
    }
}

//! Letters by another connector than the inbox.
//!
//! The desk records a letter first, so that hops, grants and repeats count as for the inbox. Then it calls the connector
//! once: the result is the receipt, and a refused sender retries with the same id.

use nightdesk_protocol::delivery::{DeliveryReceipt, Meta, Payload, WakeOpts, WakeReceipt};

use crate::context::{Correspondent, NOT_DUE, SenderContext};
use crate::error::FailureCause;
use crate::outlet::Outlet;
use crate::put::LetterDraft;
use crate::receipt::{DeliveryOutcome, DeliveryRecord};

/// Delivers a payload.
pub(crate) async fn deliver(
    context: &SenderContext,
    outlet: &Outlet,
    to: &Correspondent,
    payload: &Payload,
) -> Result<DeliveryReceipt, FailureCause> {
    let draft = LetterDraft { by_outlet: true, ..LetterDraft::from_payload(payload) };
    let result = context.put(to, &draft).await?;
    let earlier = find_earlier_outcome(context, outlet, to, draft.dispatch_id).await;
    if let Some(DeliveryOutcome::Delivered(receipt)) = earlier {
        return Ok(receipt);
    }
    let meta = with_proven_sender(to, payload.meta());
    let payload = payload.kind().make_payload(payload.text().to_owned(), meta);
    let receipt = outlet.deliver(to.session.as_deref(), &payload).await?;
    let delivery_id = receipt.delivery_id.or_else(|| Some(result.letter().to_string()));
    Ok(DeliveryReceipt { delivery_id, ..receipt })
}

/// Wakes an agent. A letter that is not due yet is stored.
pub(crate) async fn wake(
    context: &SenderContext,
    outlet: &Outlet,
    to: &Correspondent,
    draft: &LetterDraft<'_>,
    opts: &WakeOpts,
) -> Result<WakeReceipt, FailureCause> {
    if context.put(to, draft).await?.is_scheduled() {
        return Ok(context.wake_receipt(to, None, NOT_DUE));
    }
    let earlier = find_earlier_outcome(context, outlet, to, draft.dispatch_id).await;
    if let Some(DeliveryOutcome::Woken(receipt)) = earlier {
        return Ok(receipt);
    }
    let meta = opts.meta.as_deref().map(|meta| Box::new(with_proven_sender(to, meta)));
    // The letter is due, so the connector need not wait.
    let opts = WakeOpts { meta, when: None, ..opts.clone() };
    outlet.wake(to.session.as_deref(), &opts).await
}

/// Returns the outcome of the same letter by this outlet, if it succeeded before.
async fn find_earlier_outcome(
    context: &SenderContext,
    outlet: &Outlet,
    to: &Correspondent,
    dispatch_id: &str,
) -> Option<DeliveryOutcome> {
    let records =
        context.letters.store.read_receipts(context.from.scope, dispatch_id).await.ok()?;
    let is_same = |record: &DeliveryRecord| {
        record.connector == outlet.method.slug()
            && record.address == to.address
            && record.outcome.is_ok()
    };
    records.into_iter().find(is_same).map(|record| record.outcome)
}

/// Returns the meta of a letter with the proven name of its sender. The caller of a skill stays as its runtime reports
/// it; without a skill the sender is the caller.
fn with_proven_sender(to: &Correspondent, meta: &Meta) -> Meta {
    let mut meta = Meta { sender: Some(to.sender.clone()), ..meta.clone() };
    if !meta.origin.is_of_skill() {
        meta.origin.caller_agent_id = Some(to.sender.clone());
    }
    meta
}

//! Letters through gate and inbox.

use std::time::Duration;

use nightdesk_protocol::delivery::{DeliveryReceipt, Payload, WakeReceipt};
use nightdesk_types::limits::{EXCHANGE_WAIT_MAX, WOKEN_LOOKED_EVERY, WOKEN_WAIT};
use tokio::time::{Instant, sleep};

use crate::context::{Correspondent, NOT_DUE, SenderContext, store_failure};
use crate::error::FailureCause;
use crate::letter::{Letter, LetterState, Party, PeerLine};
use crate::letters::Letters;
use crate::put::{LetterDraft, PutResult};
use crate::reply::wait_for_reply;

const ASLEEP: &str = "the agent sleeps; the desk wakes it, and the letter waits in its inbox";
const OTHER_WAY: &str = "the letter with this dispatch_id went another way; use a new one";
const NOTHING_PUT: &str = "the agent sleeps; the desk wakes it only if entries wait in its inbox";

/// Delivers a payload.
pub(crate) async fn deliver(
    context: &SenderContext,
    to: &Correspondent,
    payload: &Payload,
) -> Result<DeliveryReceipt, FailureCause> {
    let result = put(context, to, &LetterDraft::from_payload(payload)).await?;
    let live = match &result {
        PutResult::Stored(_, Some(live)) if to.is_in_session(&live.session) => Some(live.clone()),
        PutResult::Stored(_, None) => None,
        // The outcome of a put does not have the agent's other sessions.
        PutResult::Stored(_, Some(_))
        | PutResult::Repeated(_)
        | PutResult::Scheduled(_)
        | PutResult::Noted(_) => {
            context.letters.store.find_line(to.party).await.map_err(store_failure)?
        }
    };
    let is_asleep = live.is_none();
    Ok(DeliveryReceipt {
        delivered_at: context.letters.now(),
        delivery_id: Some(result.letter().to_string()),
        session_id: live.map(|live| live.session_for(to.session.as_deref())),
        delivery_skipped: is_asleep,
        warnings: is_asleep.then(|| ASLEEP.to_owned()).into_iter().collect(),
    })
}

/// Wakes an agent with a letter, and waits for its line.
pub(crate) async fn wake(
    context: &SenderContext,
    to: &Correspondent,
    draft: &LetterDraft<'_>,
) -> Result<WakeReceipt, FailureCause> {
    let result = put(context, to, draft).await?;
    let warning = if result.is_scheduled() { NOT_DUE } else { ASLEEP };
    let live = match result {
        PutResult::Stored(_, Some(live)) if to.is_in_session(&live.session) => Some(live),
        PutResult::Stored(..) | PutResult::Repeated(_) => {
            wait_for_line(&context.letters, to.party).await?
        }
        PutResult::Scheduled(_) | PutResult::Noted(_) => None,
    };
    Ok(context.wake_receipt(to, live, warning))
}

/// Calls an agent that has entries waiting and no line. Puts no letter.
pub(crate) async fn call_agent(
    context: &SenderContext,
    to: &Correspondent,
) -> Result<WakeReceipt, FailureCause> {
    context.backend.call_agent(to.party);
    let live = wait_for_line(&context.letters, to.party).await?;
    Ok(context.wake_receipt(to, live, NOTHING_PUT))
}

/// Delivers a payload and waits until it is answered or `wait` is over. Returns the letter with its end.
pub(crate) async fn exchange(
    context: &SenderContext,
    to: &Correspondent,
    payload: &Payload,
    wait: Duration,
) -> Result<Letter, FailureCause> {
    let draft = LetterDraft::from_payload(payload);
    let draft = LetterDraft {
        correlation_id: draft.correlation_id.or(Some(draft.dispatch_id)),
        wait: Some(wait.min(EXCHANGE_WAIT_MAX)),
        ..draft
    };
    let letter = put(context, to, &draft).await?.letter();
    let found = wait_for_reply(&context.letters, context.from, letter).await;
    found.map_err(store_failure)?.ok_or(FailureCause::UnknownAgent)
}

/// Puts a letter into the inbox. A repeat of a letter that went another way alone is not there.
async fn put(
    context: &SenderContext,
    to: &Correspondent,
    draft: &LetterDraft<'_>,
) -> Result<PutResult, FailureCause> {
    let result = context.put(to, draft).await?;
    match &result {
        PutResult::Repeated(letter)
            if letter.seq.is_none() && letter.state != LetterState::Scheduled =>
        {
            Err(FailureCause::Invalid(OTHER_WAY.to_owned()))
        }
        PutResult::Repeated(_)
        | PutResult::Stored(..)
        | PutResult::Scheduled(_)
        | PutResult::Noted(_) => Ok(result),
    }
}

/// Waits up to [`WOKEN_WAIT`] for an agent to dial in.
async fn wait_for_line(letters: &Letters, party: Party) -> Result<Option<PeerLine>, FailureCause> {
    let until = Instant::now() + WOKEN_WAIT;
    loop {
        let live = letters.store.find_line(party).await;
        let live =
            live.map_err(|_| FailureCause::Network("the line cannot be read now".to_owned()))?;
        if live.is_some() || Instant::now() >= until {
            return Ok(live);
        }
        sleep(WOKEN_LOOKED_EVERY).await;
    }
}

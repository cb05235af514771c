//! The way in, from a platform's request to the agent's inbox.
//!
//! Each line is a stop; each passes on a value that only it can construct. The platform gets its "ok" when this
//! returns, and not before.

use std::sync::Arc;
use std::time::Instant;

use nightdesk_inbox::Put;
use nightdesk_intake::{Intake, Quarantined, Verified, verify};
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_types::limits::SOURCE_REFUSED_WITHIN;
use nightdesk_types::{Event, StoreError};
use tokio::time::timeout;

use crate::quarantine::quarantine;
use crate::{Account, Desk};

mod admission;
mod answer;

pub(crate) use admission::{Admission, admit};
pub use answer::{Answer, TakeError};

use admission::{accepts, admitted_again, dealt_with};
use answer::answered;

/// The number of times that an event is decided before the desk gives up because its snapshot keeps changing.
const DECISIONS_MAX: usize = 4;

/// Takes a request to a bot's path, if the bot has that entrance. Without this check, a webhook request could bypass
/// the limits of a chat page.
pub async fn take(
    desk: &Arc<Desk>,
    entrance: Entrance,
    path: &str,
    request: &SignedRequest<'_>,
) -> Result<Answer, TakeError> {
    let began = Instant::now();
    let account = desk.accounts.at(path).await?;
    let account = account.filter(|account| account.platform.entrance() == entrance);
    let account = account.ok_or(TakeError::NoBot)?;
    match verify(&*account.platform, &account.bot, request)? {
        Intake::Challenge(answer) => Ok(Answer::Challenge(answer)),
        Intake::Events(events) => {
            // Only verified requests count, so no third party can use up a bot's rate limit.
            desk.limits.webhook(account.bot.id).map_err(TakeError::TooFast)?;
            let taken = put_in_time(desk, &account, events, request.body, began).await;
            answered(&account, request, taken)
        }
    }
}

/// Puts the events of a request. Returns true if at least one of them has no recipient.
async fn put_all(
    desk: &Arc<Desk>,
    account: &Account,
    events: Vec<Result<Verified<Event>, Quarantined>>,
    body: &[u8],
    began: Instant,
) -> Result<bool, StoreError> {
    let mut refused = false;
    for event in events {
        match event {
            Ok(event) => {
                let placed = put(desk, account, event, began).await?;
                refused |= placed == Placed::Nowhere;
            }
            Err(unreadable) => quarantine(desk, unreadable, body).await?,
        }
    }
    Ok(refused)
}

/// Runs `put_all` with a deadline for the response. Work that takes longer continues in the background.
async fn put_in_time(
    desk: &Arc<Desk>,
    account: &Account,
    events: Vec<Result<Verified<Event>, Quarantined>>,
    body: &[u8],
    began: Instant,
) -> Result<bool, StoreError> {
    let (whole, account, body) = (Arc::clone(desk), account.clone(), body.to_vec());
    let put = async move { put_all(&whole, &account, events, &body, began).await };
    let left = SOURCE_REFUSED_WITHIN.saturating_sub(began.elapsed());
    let late = |error| StoreError::unavailable("put posted events", error);
    let put =
        timeout(left, desk.tasks.spawn(put)).await.map_err(|_| late("the call took too long"))?;
    put.map_err(|_| late("the task ended early"))?
}

/// The result of putting an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Stored,
    Nowhere,
    /// Another node reads the source now. This does not occur for a webhook, which has no source.
    Fenced,
}

/// Puts a verified event into the inboxes of all agents that may see it.
pub(crate) async fn put(
    desk: &Arc<Desk>,
    account: &Account,
    event: Verified<Event>,
    began: Instant,
) -> Result<Placed, StoreError> {
    match admit(desk, account, event, None).await? {
        Ok(admitted) => place(desk, account, vec![admitted], began).await,
        Err(placed) => Ok(placed),
    }
}

/// Puts admitted events into inboxes in order: one event, or several of one source. If one cannot be put, none after it
/// is put.
pub(crate) async fn place(
    desk: &Arc<Desk>,
    account: &Account,
    mut admitted: Vec<Admission<'_>>,
    began: Instant,
) -> Result<Placed, StoreError> {
    let mut placed = Placed::Nowhere;
    for _ in 0..DECISIONS_MAX {
        let accepts = accepts(desk, account, &admitted).await?;
        let mut puts = admitted.into_iter().zip(desk.inbox.put_in_order(accepts).await);
        let mut stale = Vec::new();
        for (one, put) in puts.by_ref() {
            match put? {
                Put::Stored(stored) => one.stored(desk, &stored, began).await,
                Put::Duplicate => {}
                Put::Fenced => return Ok(Placed::Fenced),
                Put::Stale => {
                    stale.push(one);
                    break;
                }
            }
            placed = Placed::Stored;
            dealt_with(desk, account, one.event()).await;
        }
        // The events after a stale one are put again together with it.
        stale.extend(puts.map(|(one, _)| one));
        if stale.is_empty() {
            return Ok(placed);
        }
        admitted = admitted_again(desk, account, stale).await?;
    }
    Err(StoreError::unavailable("put an event", "its recipients change too fast"))
}

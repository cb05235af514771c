//! The way in, from a platform's request to the agent's inbox.
//!
//! Each line is a stop; each hands the next a value only it can make. The source is told
//! "ok" when this returns, and not before.

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

/// How often an event is decided anew because what it was decided on has changed.
const DECISIONS_MAX: usize = 4;

/// Takes what came to a bot's path, if the bot has that entrance: a page's limits could be walked
/// around by a webhook.
pub async fn take(
    desk: &Arc<Desk>,
    (entrance, path): (Entrance, &str),
    request: &SignedRequest<'_>,
) -> Result<Answer, TakeError> {
    let began = Instant::now();
    let account = desk.accounts.at(path).await?;
    let account = account.filter(|account| account.platform.entrance() == entrance);
    let account = account.ok_or(TakeError::NoBot)?;
    match verify(&*account.platform, &account.bot, request)? {
        Intake::Challenge(answer) => Ok(Answer::Challenge(answer)),
        Intake::Events(events) => {
            // Only what is the platform's counts: nobody else can use a bot's rate up.
            desk.limits.webhook(account.bot.id).map_err(TakeError::TooFast)?;
            let taken = put_in_time(desk, &account, (events, request.body), began).await;
            answered(&account, request, taken)
        }
    }
}

/// Puts what a request held. Answers whether something of it is nobody's.
async fn put_all(
    desk: &Arc<Desk>,
    account: &Account,
    (events, body): (Vec<Result<Verified<Event>, Quarantined>>, &[u8]),
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

/// The same, and whoever posted it is answered in time. What takes longer goes on by itself.
async fn put_in_time(
    desk: &Arc<Desk>,
    account: &Account,
    (events, body): (Vec<Result<Verified<Event>, Quarantined>>, &[u8]),
    began: Instant,
) -> Result<bool, StoreError> {
    let (whole, account, body) = (Arc::clone(desk), account.clone(), body.to_vec());
    let put = async move { put_all(&whole, &account, (events, &body), began).await };
    let left = SOURCE_REFUSED_WITHIN.saturating_sub(began.elapsed());
    let late = |error| StoreError::unavailable("put what was posted", error);
    let put = timeout(left, desk.tasks.spawn(put)).await.map_err(|_| late("it took too long"))?;
    put.map_err(|_| late("it broke off"))?
}

/// Where an event came to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Stored,
    Nowhere,
    /// Somebody else reads the source now. A webhook is none.
    Fenced,
}

/// Puts a verified event into the inboxes of all who may see it.
pub(crate) async fn put(
    desk: &Arc<Desk>,
    account: &Account,
    event: Verified<Event>,
    began: Instant,
) -> Result<Placed, StoreError> {
    match admit(desk, account, (event, None)).await? {
        Ok(admitted) => place(desk, account, vec![admitted], began).await,
        Err(placed) => Ok(placed),
    }
}

/// Puts what was admitted into inboxes, in order: one event, or several of one source. From one that cannot be
/// put on, none is.
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
        // What is behind one that was decided on something old is put again with it.
        stale.extend(puts.map(|(one, _)| one));
        if stale.is_empty() {
            return Ok(placed);
        }
        admitted = admitted_again(desk, account, stale).await?;
    }
    Err(StoreError::unavailable("put an event", "who may see it changes too fast"))
}

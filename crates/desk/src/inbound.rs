//! The way in, from a platform's request to the agent's inbox.
//!
//! Each line is a stop; each hands the next a value only it can make. The source is told
//! "ok" when this returns, and not before.

use std::sync::Arc;
use std::time::Instant;

use nightdesk_bus::Ring;
use nightdesk_gate::{AdmitError, Ask};
use nightdesk_inbox::{Put, SourceMark, Stored, trail};
use nightdesk_intake::{Intake, Quarantined, Verified, verify};
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_types::planted::crash_point;
use nightdesk_types::{Event, StoreError};

use crate::quarantine::quarantine;
use crate::sight::Looking;
use crate::{Account, Desk, capabilities, context, files, hearing, linking, presses, waking};

mod answer;

pub use answer::{Answer, TakeError};

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
            let taken = put_all(desk, &account, (events, request.body), began).await;
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
                let placed = put(desk, account, (event, None), began).await?;
                refused |= placed == Placed::Nowhere;
            }
            Err(unreadable) => quarantine(desk, unreadable, body).await?,
        }
    }
    Ok(refused)
}

/// Where an event came to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Stored,
    Nowhere,
    /// Somebody else reads the source now. A webhook is none.
    Fenced,
}

/// Puts a verified event into the inboxes of all who may see it, and notes how far its source was read.
/// Once it was dealt with, a pressed button is let go, and it is noted that the bot was talked to.
pub(crate) async fn put(
    desk: &Arc<Desk>,
    account: &Account,
    (event, mark): (Verified<Event>, Option<&SourceMark>),
    began: Instant,
) -> Result<Placed, StoreError> {
    let press = presses::key_of(event.get());
    let placed = place(desk, account, (event, mark), began).await?;
    if placed != Placed::Fenced {
        if let Some(key) = press {
            presses::answer(desk, account, key);
        }
        hearing::said(desk, &account.bot).await;
    }
    Ok(placed)
}

async fn place(
    desk: &Arc<Desk>,
    account: &Account,
    (event, mark): (Verified<Event>, Option<&SourceMark>),
    began: Instant,
) -> Result<Placed, StoreError> {
    crash_point("K1");
    if let Some(ask) = Ask::of(&event) {
        linking::link(desk, &ask).await?;
        return Ok(Placed::Stored);
    }
    let looking = Looking::at(account, &event);
    let mut admitted = desk.limits.paced(looking.admit(&desk.gate, event).await);
    for _ in 0..DECISIONS_MAX {
        let event = match admitted {
            Ok(event) => event,
            Err((event, AdmitError::Refused(refusal))) => {
                desk.refusals.refused(&event, refusal);
                desk.overheard.note(account, &event, &[refusal]);
                return Ok(Placed::Nowhere);
            }
            Err((_, AdmitError::Store(error))) => return Err(error),
        };
        let told = files::referred(desk, account, &event).await?;
        let told = context::amid(desk, &looking, told.as_ref().unwrap_or(&event)).await?.or(told);
        match capabilities::put(desk, told.as_ref().unwrap_or(&event), mark).await? {
            Put::Stored(stored) => {
                crash_point("K5");
                desk.refusals.passed_over(&event);
                desk.overheard.note(account, event.verified(), event.passed_over());
                trail::stored(trail::TAKE, &stored, began.elapsed());
                waking::wake(desk, &event, &stored);
                ring(desk, &stored).await;
                crash_point("K6");
                return Ok(Placed::Stored);
            }
            Put::Duplicate => return Ok(Placed::Stored),
            Put::Stale => admitted = looking.admit_again(&desk.gate, event).await,
            Put::Fenced => return Ok(Placed::Fenced),
        }
    }
    Err(StoreError::unavailable("put an event", "who may see it changes too fast"))
}

async fn ring(desk: &Desk, stored: &[Stored]) {
    for Stored { agent, seq, .. } in stored.iter().copied() {
        // Whether anybody heard is not asked: the store knows who was up.
        desk.bell.0.ring(Ring::Entry { agent, seq }).await;
    }
}

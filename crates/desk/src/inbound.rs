//! The way in, from a platform's request to the agent's inbox.
//!
//! Each line is a stop; each hands the next a value only it can make. The source is told
//! "ok" when this returns, and not before.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nightdesk_bus::Ring;
use nightdesk_gate::{AdmitError, Ask, Floor};
use nightdesk_inbox::{Put, Quarantine, Stored, trail};
use nightdesk_intake::{Intake, Quarantined, Verified, VerifyError, verify};
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_register::RegisterError;
use nightdesk_types::planted::crash_point;
use nightdesk_types::{Event, StoreError};

use crate::{Account, Desk, capabilities, linking, waking};

/// How often an event is decided anew because what it was decided on has changed.
const DECISIONS_MAX: usize = 4;

/// What the platform is told.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything is stored, was stored before, or is nobody's.
    Taken {
        /// Whether something of it is nobody's. No platform may be told: it would tell
        /// strangers who is known here. A visitor of our own page may.
        refused: bool,
    },
    /// The answer to a question of the platform.
    Challenge(Vec<u8>),
}

/// Why a request was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// There is no bot at that path.
    #[error("no bot has this path")]
    NoBot,
    /// It is not the platform's.
    #[error("not the platform's request")]
    Verify(#[from] VerifyError),
    /// The bot has had its webhooks; the platform should come again after so long.
    #[error("too many at once")]
    TooFast(Duration),
    /// It could not be stored; the platform should come again.
    #[error("could not be stored")]
    Store(#[from] StoreError),
    /// The register could not be asked.
    #[error("could not find the bot")]
    Register(#[from] RegisterError),
}

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
            let mut refused = false;
            for event in events {
                match event {
                    Ok(event) => {
                        let placed = put(desk, &account, event, began).await?;
                        refused |= placed == Placed::Nowhere;
                    }
                    Err(unreadable) => quarantine(desk, unreadable, request.body).await?,
                }
            }
            Ok(Answer::Taken { refused })
        }
    }
}

/// Where an event came to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    Stored,
    Nowhere,
}

/// Puts a verified event into the inboxes of all who may see it.
async fn put(
    desk: &Arc<Desk>,
    account: &Account,
    event: Verified<Event>,
    began: Instant,
) -> Result<Placed, StoreError> {
    crash_point("K1");
    if let Some(ask) = Ask::of(&event) {
        linking::link(desk, &ask).await?;
        return Ok(Placed::Stored);
    }
    let seen = account.platform.eyes().map(|eyes| (eyes, event.get().source().clone()));
    let look = seen.as_ref().map(|(eyes, at)| |who: &str| eyes.sight(&account.bot, at, who));
    let floor: Floor<'_> = look.as_ref().map(|look| look as _);
    let mut admitted = desk.limits.paced(desk.gate.admit(event, floor).await);
    for _ in 0..DECISIONS_MAX {
        let event = match admitted {
            Ok(event) => event,
            Err((event, AdmitError::Refused(refusal))) => {
                desk.refusals.refused(&event, refusal);
                return Ok(Placed::Nowhere);
            }
            Err((_, AdmitError::Store(error))) => return Err(error),
        };
        match capabilities::put(desk, &event).await? {
            Put::Stored(stored) => {
                crash_point("K5");
                desk.refusals.passed_over(&event);
                trail::stored(trail::TAKE, &stored, began.elapsed());
                waking::wake(desk, &event, &stored);
                ring(desk, &stored).await;
                crash_point("K6");
                return Ok(Placed::Stored);
            }
            Put::Duplicate => return Ok(Placed::Stored),
            Put::Stale => admitted = desk.gate.admit_again(event, floor).await,
            // A webhook has no cursor, so nobody can have taken it over.
            Put::Fenced => return Err(StoreError::broken("put an event", "it has no source")),
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

async fn quarantine(desk: &Desk, unreadable: Quarantined, body: &[u8]) -> Result<(), StoreError> {
    let Quarantined { bot, operator, problem } = unreadable;
    tracing::warn!(bot.id = %bot, "quarantined an event of bot {bot}: {problem}");
    let quarantine = Quarantine { operator, bot, problem, body: body.to_vec() };
    desk.inbox.store().quarantine(&quarantine).await
}

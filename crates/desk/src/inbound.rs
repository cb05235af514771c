//! The way in, from a platform's request to the agent's inbox.
//!
//! Each line is a stop; each passes on a value that only it can construct. The platform gets its "ok" when this
//! returns, and not before.

use std::sync::Arc;
use std::time::Instant;

use nightdesk_bus::Bell;
use nightdesk_inbox::Inbox;
use nightdesk_intake::{Intake, UnreadableEvent, VerifiedEvent, verify};
use nightdesk_port::{Entrance, SignedRequest};
use nightdesk_register::Register;
use nightdesk_types::StoreError;
use nightdesk_types::limits::SOURCE_REFUSED_WITHIN;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::quarantine::quarantine;
use crate::{Account, Accounts, Limits, Refusals, Stopping, Stops, Waking};

mod admission;
mod place;
mod recent_events;
mod response;

pub(crate) use admission::{Admission, EventOrigin, NotStored, Placements};
pub use recent_events::StoredAgain;
pub use response::{TakeError, WebhookResponse};

use admission::Admissions;
use recent_events::RecentEvents;
use response::build_response;

/// The way in.
#[derive(Debug)]
pub struct Inbound {
    accounts: Arc<Accounts>,
    limits: Arc<Limits>,
    pub(crate) admissions: Admissions,
    register: Arc<Register>,
    inbox: Arc<Inbox>,
    waking: Arc<Waking>,
    bell: Arc<dyn Bell>,
    tasks: TaskTracker,
    recent: RecentEvents,
}

/// The events of one request, and the time at which the request arrived.
struct Request {
    account: Account,
    events: Vec<Result<VerifiedEvent, UnreadableEvent>>,
    body: Vec<u8>,
    began: Instant,
}

impl Inbound {
    pub(crate) fn new(
        stops: &Stops,
        refusals: &Arc<Refusals>,
        waking: &Arc<Waking>,
        stopping: &Arc<Stopping>,
    ) -> Self {
        let admissions = Admissions::new(stops, refusals, stopping);
        let waking = Arc::clone(waking);
        let Stops { accounts, limits, register, inbox, bell, tasks, .. } = stops.clone();
        let recent = RecentEvents::default();
        Self { accounts, limits, admissions, register, inbox, waking, bell, tasks, recent }
    }

    /// Takes a request to a bot's path, if the bot has that entrance. Without this check, a webhook request could
    /// bypass the limits of a chat page.
    pub async fn take(
        self: &Arc<Self>,
        entrance: Entrance,
        path: &str,
        request: &SignedRequest<'_>,
    ) -> Result<WebhookResponse, TakeError> {
        let began = Instant::now();
        let account = self.accounts.find_at(entrance, path).await?.ok_or(TakeError::NoBot)?;
        match verify(&*account.platform, &account.bot, request)? {
            Intake::Challenge(answer) => Ok(WebhookResponse::Answer(answer)),
            Intake::Events(events) => {
                let body = request.body.to_vec();
                let posted = Request { account: account.clone(), events, body, began };
                build_response(&account, request, self.put_allowed(posted).await)
            }
        }
    }

    /// Puts the events of a request within the bot's rate limit. Only verified requests count, so no third party can use
    /// up the limit.
    async fn put_allowed(self: &Arc<Self>, request: Request) -> Result<bool, TakeError> {
        self.limits.allow_webhook(request.account.bot.id).map_err(TakeError::TooFast)?;
        Ok(self.put_in_time(request).await?)
    }

    /// Runs `put_all` with a deadline for the response. Work that takes longer continues in the background.
    async fn put_in_time(self: &Arc<Self>, request: Request) -> Result<bool, StoreError> {
        let left = SOURCE_REFUSED_WITHIN.saturating_sub(request.began.elapsed());
        let put = self.tasks.spawn(Arc::clone(self).put_all(request));
        let late = |error| StoreError::unavailable("put posted events", error);
        let put = timeout(left, put).await.map_err(|_| late("the call took too long"))?;
        put.map_err(|_| late("the task ended early"))?
    }

    /// Puts the events of a request. Returns true if at least one of them has no recipient.
    async fn put_all(self: Arc<Self>, request: Request) -> Result<bool, StoreError> {
        let Request { account, events, body, began } = request;
        let (mut refused, origin) = (false, EventOrigin::Webhook);
        for event in events {
            refused |= match event {
                Ok(event) => match self.admissions.admit(&account, event, origin.clone()).await? {
                    Ok(admitted) => {
                        let placed = self.place(&account, vec![admitted], began).await?;
                        placed == Placements::default()
                    }
                    Err(end) => end == NotStored::Refused,
                },
                Err(unreadable) => {
                    quarantine(&self.inbox, unreadable, &body).await?;
                    false
                }
            };
        }
        Ok(refused)
    }
}

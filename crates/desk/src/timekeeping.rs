//! Fires due jobs.
//!
//! The schedule decides by the store's clock and makes the calls. This module gives it the services of other crates:
//! the time, tokens that prove a fire to its agent, and entries for agents without a callback.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_register::{Issuers, Register};
use nightdesk_schedule::{FireClaim, FireTokenMinter, Scheduler, StoreTime};
use nightdesk_types::{StoreError, Timestamp};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Stops, Waking};

mod fire_inboxes;

pub(crate) use fire_inboxes::is_job_chat;

/// Fires due jobs.
#[derive(Debug)]
pub struct Timekeeping {
    schedule: Arc<Scheduler>,
    inboxes: Arc<fire_inboxes::FireInboxes>,
    tasks: TaskTracker,
}

impl Timekeeping {
    pub(crate) fn new(stops: &Stops, waking: &Arc<Waking>) -> Self {
        let Stops { schedule, bell, tasks, letters, .. } = stops.clone();
        let waking = Arc::clone(waking);
        Self {
            schedule,
            inboxes: Arc::new(fire_inboxes::FireInboxes { letters, waking, bell }),
            tasks,
        }
    }

    /// Fires due jobs until this node stops.
    pub async fn run(&self, stop: &CancellationToken) {
        let deliver = Arc::<fire_inboxes::FireInboxes>::clone(&self.inboxes);
        Arc::clone(&self.schedule).run(deliver, self.tasks.clone(), stop.clone()).await;
    }
}

/// The store's clock.
#[derive(Clone, Debug)]
pub struct StoreClock(pub Arc<Register>);

#[async_trait]
impl StoreTime for StoreClock {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.0.store().time().await
    }
}

/// Creates the tokens of fires.
#[derive(Clone, Debug)]
pub struct DeskTokenMinter(pub Arc<Issuers>);

#[async_trait]
impl FireTokenMinter for DeskTokenMinter {
    async fn mint_token(
        &self,
        fire: &FireClaim,
        now: Timestamp,
    ) -> Result<SecretString, Box<dyn Error + Send + Sync>> {
        let token = self.0.own_issuer().fire_token(fire.agent, fire.fire, now).await?;
        Ok(token.with(str::to_owned).into())
    }
}

//! Fires due jobs.
//!
//! The schedule decides by the store's clock and makes the calls. This module gives it the services of other crates:
//! the time, tokens that prove a fire to its agent, and entries for agents without a callback.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_register::{Issuers, Register};
use nightdesk_schedule::{Claimed, Minting, StoreTime};
use nightdesk_types::{StoreError, Timestamp};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::Desk;

mod inbox;

pub(crate) use inbox::is_ours;

/// Fires due jobs until this node stops.
pub async fn run(desk: &Arc<Desk>, stop: &CancellationToken) {
    let deliver = Arc::new(inbox::Inboxes(Arc::clone(desk)));
    Arc::clone(&desk.schedule).run(deliver, desk.tasks.clone(), stop.clone()).await;
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
pub struct Mint(pub Arc<Issuers>);

#[async_trait]
impl Minting for Mint {
    async fn token(
        &self,
        fire: &Claimed,
        now: Timestamp,
    ) -> Result<SecretString, Box<dyn Error + Send + Sync>> {
        let token = self.0.own().fire_token(fire.agent, fire.fire, now).await?;
        Ok(token.with(str::to_owned).into())
    }
}

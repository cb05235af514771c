//! Runs people who write on fakes of Discord and Telegram in a separate process, and records the desk's messages there.
//!
//! A message counts as acknowledged when the desk confirms it: on Discord by the sequence number of a heartbeat or of a
//! RESUME, on Telegram by a higher offset in the desk's request.

mod discord;
mod enter;
mod people;
mod telegram;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_judge::Recorder;
use nightdesk_types::BotId;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::plan::Plan;
use crate::worker;
use discord::Discord;
pub use enter::{enter, secrets};
use telegram::Telegram;

/// Name of the process in histories.
pub const NAME: &str = "street";

/// Polling interval for the desk's actions.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Time limit for the confirmation of the last messages.
const LAST_WAIT: Duration = Duration::from_secs(90);

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {}

/// Commands to the street.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Create all people that this plan names.
    Enter(PathBuf),
    /// Begin to write.
    Begin,
    /// Report the state of the street.
    Count,
    /// End the bot's Discord session.
    EndSession,
    /// Write nothing new, and answer when all messages are confirmed or the time limit is over.
    Stop,
    /// End the history.
    End,
}

/// Addresses of the platforms, and the data that their bots need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Whereabouts {
    /// URL of Discord's API.
    pub api: String,
    /// URL of Discord's gateway.
    pub gateway: String,
    /// Public key for Discord's signatures.
    pub public_key: String,
    /// URL of Telegram's API.
    pub telegram: String,
}

impl Whereabouts {
    /// Returns the configuration of a node for these platforms.
    pub fn settings(&self) -> String {
        let Self { api, gateway, telegram, .. } = self;
        format!(
            "[discord]\napi_url = \"{api}\"\ngateway_url = \"{gateway}\"\n\
             [telegram]\napi_url = \"{telegram}\"\n"
        )
    }
}

/// State of the street.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Addresses of the platforms.
    pub at: Whereabouts,
    /// Number of messages that people wrote.
    pub said: u64,
    /// Number of these messages that the desk confirmed.
    pub told: u64,
    /// Times at which Discord accepted a session, new or resumed.
    pub accepted_ns: Vec<u64>,
    /// Times at which sockets were closed.
    pub closed_ns: Vec<u64>,
    /// The newest session.
    pub session: String,
    /// Number of new sessions.
    pub identifies: usize,
    /// Number of resumed sessions.
    pub resumes: usize,
    /// Number of sockets that the desk closed so that the session can be resumed.
    pub hung_up: usize,
    /// Number of sockets that the desk closed so that the session ends.
    pub ended: usize,
}

/// Message rates of a street.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Rates {
    /// Messages per second on Discord.
    pub discord: u64,
    /// Messages per second on Telegram.
    pub telegram: u64,
}

/// The bots of a street, the members on it, and the rates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Street {
    /// The bot on Discord.
    pub discord: BotId,
    /// The bot on Telegram, if there is one.
    pub telegram: Option<BotId>,
    /// Members whose people write there.
    pub members: Vec<usize>,
    /// Message rates.
    pub rates: Rates,
}

/// State that the whole street shares.
struct Hall {
    plan: Plan,
    street: Street,
    notes: Recorder,
    stopping: AtomicBool,
    said: AtomicU64,
    told: AtomicU64,
}

/// Runs the process.
pub(crate) async fn run(_: &Arguments) -> Result<()> {
    let discord = Arc::new(Discord::open().await?);
    let telegram = Arc::new(Telegram::open().await?);
    let mut hall: Option<Arc<Hall>> = None;
    let (mut people, mut looks) = (JoinSet::new(), JoinSet::new());
    worker::answer(async |order| {
        match (order, &hall) {
            (Order::Enter(plan), _) => {
                let entered = Arc::new(Hall::of(Plan::load(&plan)?)?);
                discord.enter(&entered);
                looks.spawn(Arc::clone(&discord).watch(Arc::clone(&entered)));
                looks.spawn(Arc::clone(&telegram).watch(Arc::clone(&entered)));
                hall = Some(entered);
            }
            (Order::Begin, Some(hall)) => {
                people.spawn(Arc::clone(&discord).write(Arc::clone(hall)));
                people.spawn(Arc::clone(&telegram).write(Arc::clone(hall)));
            }
            (Order::EndSession, _) => discord.end_session(),
            (Order::Stop, Some(hall)) => {
                hall.stopping.store(true, Ordering::Relaxed);
                while people.join_next().await.is_some() {}
                // A message without a confirmation by then counts as unconfirmed.
                drop(timeout(LAST_WAIT, hall.confirmed()).await);
            }
            (Order::End, Some(hall)) => {
                looks.shutdown().await;
                hall.notes.end()?;
            }
            (Order::Begin | Order::Count | Order::Stop | Order::End, _) => {}
        }
        Ok(standing(&discord, &telegram, hall.as_deref()))
    })
    .await
}

fn standing(discord: &Discord, telegram: &Telegram, hall: Option<&Hall>) -> Standing {
    let count =
        |of: fn(&Hall) -> &AtomicU64| hall.map_or(0, |hall| of(hall).load(Ordering::Relaxed));
    let mut standing = discord.standing();
    standing.at.telegram = telegram.url();
    standing.said = count(|hall| &hall.said);
    standing.told = count(|hall| &hall.told);
    standing
}

impl Hall {
    fn of(plan: Plan) -> Result<Self> {
        let street = plan.street.clone().context("the plan has no street")?;
        Ok(Self {
            notes: plan.record(NAME)?,
            street,
            plan,
            stopping: AtomicBool::default(),
            said: AtomicU64::default(),
            told: AtomicU64::default(),
        })
    }

    async fn confirmed(&self) {
        while self.told.load(Ordering::Relaxed) < self.said.load(Ordering::Relaxed) {
            sleep(LOOK_EVERY).await;
        }
    }
}

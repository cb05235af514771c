//! Street: people who write on Discord and on Telegram, on fakes of both in a process of their own, and what the
//! desk says there.
//!
//! What was said is told "ok" when the desk confirms it: Discord by the number of a heartbeat or of a RESUME,
//! Telegram by the number that is asked beyond.

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

/// What the process is called in histories.
pub const NAME: &str = "street";

/// How often it is looked what the desk has done.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long the desk may take to confirm what was said last.
const LAST_WAIT: Duration = Duration::from_secs(90);

/// What the process is told when it starts.
#[derive(Debug, clap::Args)]
pub struct Arguments {}

/// What the street can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Let everybody in that this plan names.
    Enter(PathBuf),
    /// Begin to write.
    Begin,
    /// Say how things stand.
    Count,
    /// Discord ends the bot's session.
    EndSession,
    /// Write nothing new; answer when all that was said is confirmed, or will not be.
    Stop,
    /// Nothing more is seen.
    End,
}

/// Where platforms are, and what their bots need to know.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Whereabouts {
    /// Discord's API.
    pub api: String,
    /// Discord's gateway.
    pub gateway: String,
    /// By what its signatures are checked.
    pub public_key: String,
    /// Telegram's API.
    pub telegram: String,
}

impl Whereabouts {
    /// What a node is told of them.
    pub fn settings(&self) -> String {
        let Self { api, gateway, telegram, .. } = self;
        format!(
            "[discord]\napi_url = \"{api}\"\ngateway_url = \"{gateway}\"\n\
             [telegram]\napi_url = \"{telegram}\"\n"
        )
    }
}

/// How things stand on the street.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Where everything is.
    pub at: Whereabouts,
    /// What people wrote.
    pub said: u64,
    /// Of that, what the desk confirmed.
    pub told: u64,
    /// When Discord let a socket have a session, new or resumed.
    pub accepted_ns: Vec<u64>,
    /// When sockets were closed.
    pub closed_ns: Vec<u64>,
    /// The newest session.
    pub session: String,
    /// Sessions that were asked for anew.
    pub identifies: usize,
    /// Sessions that went on.
    pub resumes: usize,
    /// Sockets that the desk closed so that the session can go on, ...
    pub hung_up: usize,
    /// ... and so that it cannot.
    pub ended: usize,
}

/// How much is written on a street.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Rates {
    /// On Discord, in a second.
    pub discord: u64,
    /// On Telegram, in a second.
    pub telegram: u64,
}

/// The bots of a street, whose people write there, and how much.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Street {
    /// On Discord.
    pub discord: BotId,
    /// On Telegram, if anybody writes there.
    pub telegram: Option<BotId>,
    /// The members whose people write there.
    pub members: Vec<usize>,
    /// How much.
    pub rates: Rates,
}

/// What everybody on the street shares.
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
                // What is not confirmed by then is counted as such.
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

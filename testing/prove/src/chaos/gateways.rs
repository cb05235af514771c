//! Holds the lines of a share of the agents, each with its own manner.

mod agent;
mod line;
mod requests;
mod polled;
mod posted;
mod duty;
mod following;
mod replying;
mod sdk;
mod tap;
mod target;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use nightdesk_judge::Recorder;
use nightdesk_types::{SystemClock, Transport};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

pub(crate) use duty::answers;

use posted::PostedAgent;

use super::manner::Manner;
use super::plan::Plan;
use crate::chance::Dice;
use crate::worker;

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// File of the plan.
    #[arg(long)]
    plan: PathBuf,
    /// Number of this gateway process.
    #[arg(long)]
    process: usize,
}

/// Commands to the gateways.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Dial in with all gateways.
    Dial,
    /// Report the state of the gateways.
    Count,
    /// Cut this percentage of the lines that agents opened.
    Reset(u64),
    /// Leave this percentage of these lines without a close frame, and sleep until a wake call.
    Sleep(u64),
    /// Freeze this agent's gateway at a step of going idle, until a wake call.
    Freeze(usize, Step),
    /// Hold the posts of entries open from now on, or no longer.
    HoldPosts(bool),
    /// Dial anew, and behave normally from now on.
    Settle,
    /// Close the lines and end the history.
    End,
}

/// Step of going idle at which a gateway is frozen with its line open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Before it sends that it goes idle.
    Awake,
    /// It has sent that it goes idle, and has no confirmation.
    SaidIdle,
    /// It has the confirmation, and has not closed its line.
    KnownIdle,
    /// It has closed its line, and dialled again a second later.
    Redialled,
}

/// State of the gateways.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Number of acks sent.
    pub acked: u64,
    /// Number of sends without a result.
    pub asking: u64,
    /// Number of gateways that are frozen, or will be.
    pub frozen: usize,
    /// Members that hold posts open.
    pub holding: Vec<usize>,
    /// Members that got an entry again whose post they held open until the desk hung up.
    pub posted_again: Vec<usize>,
}

/// Latest command to all gateways of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    settled: bool,
    over: bool,
    /// True while posts are held open.
    holds: bool,
    cut: Option<Cut>,
}

/// Cut of a percentage of the lines.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Reset(u64),
    Sleep(u64),
}

impl Told {
    /// Returns the cut of a line that received the command.
    fn cuts(self, dice: &mut Dice) -> Option<Cut> {
        self.cut.filter(|cut| {
            let (Cut::Reset(percent) | Cut::Sleep(percent)) = *cut;
            !self.settled && dice.percent(percent)
        })
    }
}

/// State that all gateways of a process share.
#[derive(Debug)]
struct Hall {
    plan: Plan,
    notes: Recorder,
    clock: SystemClock,
    told: watch::Sender<Told>,
    acked: AtomicU64,
    asking: AtomicU64,
    /// Notified when an agent's wake target is called.
    woken: Vec<Notify>,
    /// Agents that are frozen or are to be frozen.
    frozen: Mutex<BTreeMap<usize, Step>>,
    /// Agents to which the desk posts.
    posted: Mutex<BTreeMap<usize, PostedAgent>>,
}

impl Hall {
    fn standing(&self) -> Standing {
        Standing {
            acked: self.acked.load(Ordering::Relaxed),
            asking: self.asking.load(Ordering::Relaxed),
            frozen: self.frozen().len(),
            holding: self.posted_where(PostedAgent::is_holding),
            posted_again: self.posted_where(PostedAgent::is_posted_again),
        }
    }

    fn posted_where(&self, is_one: impl Fn(&PostedAgent) -> bool) -> Vec<usize> {
        let posted = self.posted();
        posted.iter().filter(|(_, agent)| is_one(agent)).map(|(member, _)| *member).collect()
    }

    fn hold_posts(&self, holds: bool) {
        if holds {
            self.posted().values_mut().for_each(PostedAgent::begin_to_hold);
        }
        self.told.send_modify(|told| *told = Told { holds, cut: None, ..*told });
    }

    fn cut(&self, cut: Option<Cut>) {
        self.told.send_modify(|told| told.cut = cut);
    }

    fn posted(&self) -> MutexGuard<'_, BTreeMap<usize, PostedAgent>> {
        // The map is consistent at every step, also if a holder panicked.
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frozen(&self) -> MutexGuard<'_, BTreeMap<usize, Step>> {
        // The map is consistent at every step, also if a holder panicked.
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let plan = Plan::load(&arguments.plan)?;
    let members = plan.cast.members.len();
    let hall = Arc::new(Hall {
        notes: plan.record(&name(arguments.process))?,
        clock: SystemClock::start(),
        told: watch::Sender::default(),
        acked: AtomicU64::default(),
        asking: AtomicU64::default(),
        woken: (0..members).map(|_| Notify::new()).collect(),
        frozen: Mutex::default(),
        posted: Mutex::default(),
        plan,
    });
    let mine = |member: &usize| Plan::process_of(*member) == arguments.process;
    let mut tasks = JoinSet::new();
    tasks.spawn(target::listen(Arc::clone(&hall), hall.plan.targets[arguments.process]));
    if arguments.process == 0 {
        tasks.spawn(target::lure(Arc::clone(&hall), hall.plan.honeypot));
    }
    worker::answer(async |order| {
        match order {
            Order::Dial => {
                for member in (0..members).filter(mine) {
                    tasks.spawn(live(Arc::clone(&hall), member));
                }
            }
            Order::Count => {}
            Order::Reset(percent) => hall.cut(Some(Cut::Reset(percent))),
            Order::Sleep(percent) => hall.cut(Some(Cut::Sleep(percent))),
            Order::Freeze(member, step) => {
                if mine(&member) {
                    hall.frozen().insert(member, step);
                }
                hall.cut(None);
            }
            Order::HoldPosts(holds) => hall.hold_posts(holds),
            Order::Settle => hall.told.send_modify(|told| told.settled = true),
            Order::End => {
                hall.told.send_modify(|told| told.over = true);
                tasks.shutdown().await;
                hall.notes.end()?;
            }
        }
        Ok(hall.standing())
    })
    .await
}

/// Returns the name of a gateway process in histories.
pub fn name(process: usize) -> String {
    format!("gateways-{process}")
}

async fn live(hall: Arc<Hall>, member: usize) {
    let manner = hall.plan.manners[member];
    match manner.transport() {
        Transport::WebSocket if manner == Manner::Sdk => sdk::live(hall, member).await,
        // The desk calls it.
        Transport::Webhook => {}
        Transport::WebSocket | Transport::Polling | Transport::Mcp => {
            agent::live(&hall, member, manner).await;
        }
    }
}

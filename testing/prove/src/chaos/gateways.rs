//! Gateways: the lines of a share of the agents, each with its own manner.

mod agent;
mod line;
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
use nightdesk_types::SystemClock;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

pub(crate) use duty::answers;

use super::manner::Manner;
use super::plan::Plan;
use crate::chance::Dice;
use crate::worker;

/// What the process is told when it starts.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The file with the plan in it.
    #[arg(long)]
    plan: PathBuf,
    /// Which of the processes of gateways it is.
    #[arg(long)]
    process: usize,
}

/// What the gateways can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Dial in, all of them.
    Dial,
    /// Say how things stand.
    Count,
    /// Cut so many of a hundred lines.
    Reset(u64),
    /// Leave so many of a hundred lines without a word, and sleep until somebody calls.
    Sleep(u64),
    /// Freeze this agent's gateway at a step of going idle, until somebody calls.
    Freeze(usize, Step),
    /// Dial anew, and behave from now on.
    Settle,
    /// Hang up; nothing more is seen.
    End,
}

/// Where on its way to sleep a gateway is frozen, its line open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Before it says that it goes idle.
    Awake,
    /// It has said so, and not heard that this is known.
    SaidIdle,
    /// It has heard that, and not closed its line.
    KnownIdle,
    /// It has closed its line, and dialled again a second later.
    Redialled,
}

/// How things stand with the gateways.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Acks that were sent.
    pub acked: u64,
    /// Sends without an answer.
    pub asking: u64,
    /// Gateways that are frozen, or will be.
    pub frozen: usize,
}

/// What all gateways of a process were told last.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    settled: bool,
    over: bool,
    cut: Option<Cut>,
}

/// What happens to so many of a hundred lines.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Reset(u64),
    Sleep(u64),
}

impl Told {
    /// What happens to a line that heard of it.
    fn cuts(self, dice: &mut Dice) -> Option<Cut> {
        self.cut.filter(|cut| {
            let (Cut::Reset(percent) | Cut::Sleep(percent)) = *cut;
            !self.settled && dice.percent(percent)
        })
    }
}

/// What all gateways of a process share.
#[derive(Debug)]
struct Hall {
    plan: Plan,
    notes: Recorder,
    clock: SystemClock,
    told: watch::Sender<Told>,
    acked: AtomicU64,
    asking: AtomicU64,
    /// Rung when an agent's wake target is called.
    woken: Vec<Notify>,
    /// Who is to be frozen, or is.
    frozen: Mutex<BTreeMap<usize, Step>>,
}

impl Hall {
    fn standing(&self) -> Standing {
        Standing {
            acked: self.acked.load(Ordering::Relaxed),
            asking: self.asking.load(Ordering::Relaxed),
            frozen: self.frozen().len(),
        }
    }

    fn cut(&self, cut: Option<Cut>) {
        self.told.send_modify(|told| told.cut = cut);
    }

    fn frozen(&self) -> MutexGuard<'_, BTreeMap<usize, Step>> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let plan = Plan::load(&arguments.plan)?;
    let members = plan.cast.members.len();
    let hall = Arc::new(Hall {
        notes: plan.record(&name(arguments.process))?,
        clock: SystemClock::started(),
        told: watch::Sender::default(),
        acked: AtomicU64::default(),
        asking: AtomicU64::default(),
        woken: (0..members).map(|_| Notify::new()).collect(),
        frozen: Mutex::default(),
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

/// What a process of gateways is called in histories.
pub fn name(process: usize) -> String {
    format!("gateways-{process}")
}

async fn live(hall: Arc<Hall>, member: usize) {
    let manner = hall.plan.manners[member];
    if manner == Manner::Sdk {
        sdk::live(hall, member).await;
    } else {
        agent::live(&hall, member, manner).await;
    }
}

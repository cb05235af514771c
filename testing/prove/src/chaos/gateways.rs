//! Gateways: the lines of a share of the agents, each with its own manner.

mod agent;
mod line;
mod duty;
mod sdk;
mod tap;
mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use nightdesk_judge::Recorder;
use nightdesk_types::SystemClock;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

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
    /// Dial anew, and behave from now on.
    Settle,
    /// Hang up; nothing more is seen.
    End,
}

/// How things stand with the gateways.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Acks that were sent.
    pub acked: u64,
    /// Sends without an answer.
    pub asking: u64,
}

/// What all gateways of a process were told last.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    settled: bool,
    over: bool,
    /// Of how many in a hundred lines are cut with this order.
    reset_percent: u64,
}

impl Told {
    /// Whether a line is one of those that are cut.
    const fn cuts(self, dice: &mut Dice) -> bool {
        !self.settled && dice.percent(self.reset_percent)
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
}

impl Hall {
    fn standing(&self) -> Standing {
        Standing {
            acked: self.acked.load(Ordering::Relaxed),
            asking: self.asking.load(Ordering::Relaxed),
        }
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
        plan,
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(target::listen(Arc::clone(&hall), hall.plan.targets[arguments.process]));
    if arguments.process == 0 {
        tasks.spawn(target::lure(Arc::clone(&hall), hall.plan.honeypot));
    }
    worker::answer(async |order| {
        match order {
            Order::Dial => {
                let mine = |member: &usize| Plan::process_of(*member) == arguments.process;
                for member in (0..members).filter(mine) {
                    tasks.spawn(live(Arc::clone(&hall), member));
                }
            }
            Order::Count => {}
            Order::Reset(percent) => {
                hall.told.send_modify(|told| told.reset_percent = percent);
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

//! Jobs: agents that ask the desk to be told of instants, change their minds, and are told.

mod agent;
mod ask;
mod say;
mod target;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use nightdesk_judge::Recorder;
use nightdesk_types::SystemClock;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::plan::{Plan, PlanFile};
use crate::worker;
use say::Says;

/// What the process is called in histories.
pub const NAME: &str = "jobs";

/// How long agents may take to end what they just do.
const LAST_WAIT: Duration = Duration::from_secs(40);

/// What agents with jobs can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Begin to arm jobs.
    Begin,
    /// Arm nothing new, and take what comes.
    Stop,
    /// Nothing more is seen.
    End,
}

/// What all agents of the process share.
#[derive(Debug)]
struct Diary {
    plan: Plan,
    notes: Recorder,
    clock: SystemClock,
    stopping: AtomicBool,
    /// Requests and receipts so far, so that each has a name.
    named: AtomicU64,
    /// What is said to each fire.
    fires: Mutex<HashMap<String, Says>>,
    /// The instant that each agent was told of last and took, in microseconds.
    taken: Vec<watch::Sender<u64>>,
}

impl Diary {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// A name that nothing else has.
    fn name(&self, of: &str) -> String {
        format!("{of}-{}", self.named.fetch_add(1, Ordering::Relaxed))
    }

    fn fires(&self) -> MutexGuard<'_, HashMap<String, Says>> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.fires.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the process.
pub(crate) async fn run(file: &PlanFile) -> Result<()> {
    let plan = file.load()?;
    let diary = Arc::new(Diary {
        notes: plan.record(NAME)?,
        clock: SystemClock::started(),
        stopping: AtomicBool::default(),
        named: AtomicU64::default(),
        fires: Mutex::default(),
        taken: (0..plan.jobs.agents).map(|_| watch::Sender::default()).collect(),
        plan,
    });
    let (mut ears, mut agents) = (JoinSet::new(), JoinSet::new());
    ears.spawn(target::listen(Arc::clone(&diary)));
    worker::answer(async |order| {
        match order {
            Order::Begin => {
                for member in 0..diary.plan.jobs.agents {
                    agents.spawn(agent::live(Arc::clone(&diary), member));
                }
            }
            Order::Stop => {
                diary.stopping.store(true, Ordering::Relaxed);
                // Whoever is still at it asks for nothing new.
                worker::end(&mut agents, LAST_WAIT).await;
            }
            Order::End => {
                ears.shutdown().await;
                diary.notes.end()?;
            }
        }
        Ok(())
    })
    .await
}

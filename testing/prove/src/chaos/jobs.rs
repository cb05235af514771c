//! Runs agents that arm jobs, cancel or change them, and receive the fires.

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

/// Name of the process in histories.
pub const NAME: &str = "jobs";

/// Time limit for agents to finish their current step.
const LAST_WAIT: Duration = Duration::from_secs(40);

/// Commands to the agents with jobs.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Begin to arm jobs.
    Begin,
    /// Arm no new jobs, and accept the pending fires.
    Stop,
    /// End the history.
    End,
}

/// State that all agents of the process share.
#[derive(Debug)]
struct Diary {
    plan: Plan,
    notes: Recorder,
    clock: SystemClock,
    stopping: AtomicBool,
    /// Number of requests and receipts so far, which makes their names unique.
    named: AtomicU64,
    /// The answers to each fire.
    fires: Mutex<HashMap<String, Says>>,
    /// The instant of the last fire that each agent took, in microseconds.
    taken: Vec<watch::Sender<u64>>,
}

impl Diary {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Returns a unique name.
    fn name(&self, of: &str) -> String {
        format!("{of}-{}", self.named.fetch_add(1, Ordering::Relaxed))
    }

    fn fires(&self) -> MutexGuard<'_, HashMap<String, Says>> {
        // The map is consistent at every step, also if a holder panicked.
        self.fires.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the process.
pub(crate) async fn run(file: &PlanFile) -> Result<()> {
    let plan = file.load()?;
    let diary = Arc::new(Diary {
        notes: plan.record(NAME)?,
        clock: SystemClock::start(),
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
                // The remaining agents make no new requests.
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

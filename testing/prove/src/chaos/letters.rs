//! Letters: agents that write to each other, ask each other, and put skills and data on the shelves of their tenants.

mod look;
mod post;
mod put;
mod writer;
pub mod who;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use nightdesk_judge::Recorder;
use nightdesk_types::SystemClock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinSet;

use super::asking::{self, Heard, Request};
use super::plan::{Plan, PlanFile};
use crate::worker;
use put::Item;

/// What the process is called in histories.
pub const NAME: &str = "letters";

/// How a letter begins that asks for a reply, after its nonce.
const ASKS: &str = "asks";

/// How long a node may take to answer: longer than anybody is waited for.
const ANSWER_WAIT: Duration = Duration::from_secs(8);

/// How often a node is asked, one after the other.
const ATTEMPTS_MAX: u32 = 60;

/// How long until the next one is, in milliseconds.
const AGAIN_MS: (u64, u64) = (100, 500);

/// How long writers may take to end what they just do.
const LAST_WAIT: Duration = Duration::from_secs(40);

/// What agents that write can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Begin to write.
    Begin,
    /// Write nothing new, and hear how everything ended.
    Stop,
    /// Look what is on the shelves; then nothing more is seen.
    End,
}

/// What all agents of the process share.
#[derive(Debug)]
struct Diary {
    plan: Plan,
    notes: Recorder,
    clock: SystemClock,
    stopping: AtomicBool,
    /// Requests so far, so that each has a name.
    named: AtomicU64,
    /// What was put on shelves.
    items: Mutex<Vec<Item>>,
}

impl Diary {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// A name that nothing else has.
    fn name(&self, of: &str) -> String {
        format!("{of}-{}", self.named.fetch_add(1, Ordering::Relaxed))
    }

    fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a node on behalf of a member.
    async fn ask(
        &self,
        node: SocketAddr,
        member: usize,
        (path, body): (&str, Option<&Value>),
    ) -> Heard {
        let token = self.plan.cast.members[member].token(&self.clock);
        asking::ask(node, Request { token: token.expose(), path, body, wait: ANSWER_WAIT }).await
    }
}

/// Whether whoever wrote this waits for a reply.
pub(crate) fn asks(words: &str) -> bool {
    words.split(' ').nth(1) == Some(ASKS)
}

/// Runs the process.
pub(crate) async fn run(file: &PlanFile) -> Result<()> {
    let plan = file.load()?;
    let diary = Arc::new(Diary {
        notes: plan.record(NAME)?,
        clock: SystemClock::started(),
        stopping: AtomicBool::default(),
        named: AtomicU64::default(),
        items: Mutex::default(),
        plan,
    });
    let mut writers = JoinSet::new();
    worker::answer(async |order| {
        match order {
            Order::Begin => {
                for number in 0..diary.plan.letters.len() {
                    writers.spawn(writer::live(Arc::clone(&diary), number));
                }
            }
            Order::Stop => {
                diary.stopping.store(true, Ordering::Relaxed);
                // Whoever is still at it begins nothing new.
                worker::end(&mut writers, LAST_WAIT).await;
            }
            Order::End => {
                look::look(&diary).await?;
                diary.notes.end()?;
            }
        }
        Ok(())
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_asks_if_it_says_so_after_its_nonce() {
        assert!(asks("n1 asks for your opinion"));
        assert!(!asks("n1 tells what somebody asks"));
        assert!(!asks("asks"));
    }
}

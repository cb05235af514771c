//! Runs agents that write letters, ask each other, and put skills and data on their tenants' shelves.

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

/// Name of the process in histories.
pub const NAME: &str = "letters";

/// First word after the nonce of a letter that asks for a reply.
const ASKS: &str = "asks";

/// Timeout of a response: longer than the desk waits for any reply.
const ANSWER_WAIT: Duration = Duration::from_secs(8);

/// Maximum number of attempts, each on one node.
const ATTEMPTS_MAX: u32 = 60;

/// Range of the delay between attempts, in milliseconds.
const AGAIN_MS: (u64, u64) = (100, 500);

/// Time limit for writers to finish their current step.
const LAST_WAIT: Duration = Duration::from_secs(40);

/// Commands to the writing agents.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Begin to write.
    Begin,
    /// Write nothing new, and wait for the results.
    Stop,
    /// Read the shelves, then end the history.
    End,
}

/// State that all agents of the process share.
#[derive(Debug)]
struct Diary {
    plan: Plan,
    notes: Recorder,
    clock: SystemClock,
    stopping: AtomicBool,
    /// Number of requests so far, which makes their names unique.
    named: AtomicU64,
    /// Items put on shelves.
    items: Mutex<Vec<Item>>,
}

impl Diary {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Returns a unique name.
    fn name(&self, of: &str) -> String {
        format!("{of}-{}", self.named.fetch_add(1, Ordering::Relaxed))
    }

    fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        // The list is consistent at every step, also if a holder panicked.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request to a node as a member.
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

/// Returns true if the author of this text waits for a reply.
pub(crate) fn asks(words: &str) -> bool {
    words.split(' ').nth(1) == Some(ASKS)
}

/// Runs the process.
pub(crate) async fn run(file: &PlanFile) -> Result<()> {
    let plan = file.load()?;
    let diary = Arc::new(Diary {
        notes: plan.record(NAME)?,
        clock: SystemClock::start(),
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
                // The remaining writers begin nothing new.
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

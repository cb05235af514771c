//! Posts events until the desk acknowledges them, takes the desk's calls, and records both.

mod poster;
mod mover;
mod ear;
mod look;
mod storm;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use nightdesk_judge::Recorder;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::plan::{Plan, PlanFile};
use crate::worker;
use look::Look;

/// Number of concurrent posters.
const POSTERS: usize = 96;

/// The second word of a text with which a capability was lent.
pub(crate) const LENT: &str = "lent ";

/// Prefix of the messages of the SDK's agents.
const SDK: &str = "sdk-";

/// Time limit for the acknowledgements of the last events.
const LAST_WAIT: Duration = Duration::from_mins(1);

/// Commands to the platform.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Begin to post.
    Begin,
    /// Report the number of events sent.
    Count,
    /// For this many milliseconds, close connections to the desk in the middle of requests.
    Storm(u64),
    /// Send no new events, and answer when all sent events are acknowledged.
    Stop,
    /// End the history.
    End,
}

/// Counts of sent events.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// Events that the desk acknowledged.
    pub told: u64,
    /// Acknowledged events from rooms that several tenants share.
    pub shared: u64,
    /// Requests whose connection was closed.
    pub hung_up: u64,
}

/// State that the whole platform shares.
#[derive(Debug)]
struct Square {
    plan: Plan,
    notes: Recorder,
    look: Arc<Look>,
    change: Arc<Look>,
    stopping: AtomicBool,
    told: AtomicU64,
    shared: AtomicU64,
    hung_up: AtomicU64,
}

/// Runs the process.
pub(crate) async fn run(file: &PlanFile) -> Result<()> {
    let plan = file.load()?;
    let square = Arc::new(Square {
        notes: plan.record("platform")?,
        look: Arc::new(Look::into(&plan)?),
        change: Arc::new(Look::into(&plan)?),
        stopping: AtomicBool::default(),
        told: AtomicU64::default(),
        shared: AtomicU64::default(),
        hung_up: AtomicU64::default(),
        plan,
    });
    let (mut ears, mut posters) = (JoinSet::new(), JoinSet::new());
    ears.spawn(ear::listen(Arc::clone(&square)));
    worker::answer(async |order| {
        match order {
            Order::Begin => {
                for number in 0..POSTERS + square.plan.floods.len() {
                    posters.spawn(poster::post(Arc::clone(&square), number));
                }
                for number in 0..square.plan.movers.len() {
                    posters.spawn(mover::move_about(Arc::clone(&square), number));
                }
            }
            Order::Count => {}
            Order::Storm(millis) => storm::rage(&square, Duration::from_millis(millis)).await,
            Order::Stop => {
                square.stopping.store(true, Ordering::Relaxed);
                // An event that is not acknowledged by now never will be, and no promise covers it.
                worker::end(&mut posters, LAST_WAIT).await;
            }
            Order::End => {
                ears.shutdown().await;
                square.notes.end()?;
            }
        }
        Ok(square.sent())
    })
    .await
}

impl Square {
    fn sent(&self) -> Sent {
        Sent {
            told: self.told.load(Ordering::Relaxed),
            shared: self.shared.load(Ordering::Relaxed),
            hung_up: self.hung_up.load(Ordering::Relaxed),
        }
    }
}

/// Returns the nonce in a text or in the path of a request.
pub(crate) fn nonce_in(said: &str) -> &str {
    let said = said.trim_start_matches('/');
    said.split_once(' ').map_or(said, |(nonce, _)| nonce)
}

/// Returns the request in the text of one of our own gateways: it is the whole text.
pub(crate) fn request_in(text: &str) -> Option<String> {
    text.contains('#').then(|| text.to_owned())
}

/// Returns true if an agent of this world wrote a text. All other texts are notices of the desk.
pub(crate) fn is_of_agent(text: &str) -> bool {
    request_in(text).is_some() || text.starts_with(SDK)
}

/// Returns true if a capability was lent with this text.
pub(crate) fn is_lent(said: &str) -> bool {
    said.split_once(' ').is_some_and(|(_, rest)| rest.starts_with(LENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_the_first_word() {
        assert_eq!(nonce_in("n4-17 and then some"), "n4-17");
        assert_eq!(nonce_in("/n4-17"), "n4-17");
    }

    #[test]
    fn a_text_says_whether_an_agent_wrote_it() {
        let cases = [
            ("agent-7#12.3", true),
            ("sdk-answer", true),
            ("You write too much; the operator was told.", false),
        ];
        for (text, want) in cases {
            assert_eq!(is_of_agent(text), want, "{text}");
        }
    }

    #[test]
    fn what_was_lent_is_said_in_the_second_word() {
        for (said, want) in [("n4-17 lent words", true), ("n4-17 words", false), ("lent", false)] {
            assert_eq!(is_lent(said), want, "{said}");
        }
    }
}

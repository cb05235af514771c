//! Posts events at an even rate, also while the desk is down.
//!
//! An event without a 200 is posted again under the same id, as platforms do.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Result, bail};
use nightdesk_judge::monotonic_ns;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::{Connection, Desk, write_body};
use crate::history::Seen;
use crate::pace::Pace;

/// Timeout of one post.
const POST_WAIT: Duration = Duration::from_secs(10);

/// Delay after a failed post.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Maximum time of retries for an event.
const GIVE_UP_AFTER: Duration = Duration::from_mins(2);

/// Posts in progress.
#[derive(Debug)]
pub(super) struct Posting {
    pace: Arc<Pace>,
    connections: Vec<JoinHandle<Result<()>>>,
}

impl Posting {
    /// Begins to post over this many connections, in each turn to the agent that `member` returns.
    pub(super) fn begin(
        desk: &Arc<Desk>,
        connections: u64,
        pace: Pace,
        member: impl Fn(u64) -> usize + Clone + Send + 'static,
    ) -> Self {
        let pace = Arc::new(pace);
        let post =
            |node| tokio::spawn(post((Arc::clone(desk), node), Arc::clone(&pace), member.clone()));
        let connections = super::nodes(desk, connections).map(post).collect();
        Self { pace, connections }
    }

    /// Waits until all turns are over and all events are posted.
    pub(super) async fn done(self) -> Result<()> {
        super::all(self.connections.into_iter()).await
    }

    /// Takes no more turns, and waits for the posts in progress.
    pub(super) async fn stop(self) -> Result<()> {
        self.pace.end();
        self.done().await
    }
}

async fn post(
    (desk, node): (Arc<Desk>, usize),
    pace: Arc<Pace>,
    member: impl Fn(u64) -> usize,
) -> Result<()> {
    let mut connection = None;
    let mut body = Vec::new();
    while let Some(nth) = pace.turn().await {
        let event = desk.next_event(node);
        let agent = member(nth);
        write_body(&mut body, agent, event)?;
        let began_ns = monotonic_ns();
        post_until_taken((&desk, node), &mut connection, &body).await?;
        desk.told.note_at(began_ns, &[Seen { agent, event }]);
    }
    Ok(())
}

pub(super) async fn post_until_taken(
    (desk, node): (&Desk, usize),
    connection: &mut Option<Connection>,
    body: &[u8],
) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < GIVE_UP_AFTER {
        if let Ok(Ok(200)) = timeout(POST_WAIT, post_once((desk, node), connection, body)).await {
            return Ok(());
        }
        // After any failure the connection is unusable.
        *connection = None;
        desk.again.fetch_add(1, Ordering::Relaxed);
        sleep(AGAIN_AFTER).await;
    }
    bail!("the desk did not take an event for {} s", GIVE_UP_AFTER.as_secs())
}

async fn post_once(
    (desk, node): (&Desk, usize),
    connection: &mut Option<Connection>,
    body: &[u8],
) -> Result<u16> {
    let open = match connection.take() {
        Some(open) => open,
        None => Connection::open(desk.nodes[node]).await?,
    };
    connection.insert(open).post(&desk.cast.bots[0], body).await
}

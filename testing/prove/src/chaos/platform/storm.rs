//! Simulates clients that close their connections in the middle of requests, a thousand a second.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nightdesk_judge::Event;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::Square;
use super::poster::{note_sent, ready};
use crate::chance::Dice;
use crate::platform::Connection;

/// Number of concurrent clients, and the requests per second of each.
const CLIENTS: usize = 50;
const EACH_PER_S: u32 = 20;

/// Delay between the end of a request and the close, as powers of two in microseconds. It covers every step of a fast
/// and of a slow desk.
const HOLDS_US_LOG: (usize, usize) = (8, 15);

/// Percentage of requests whose event is unreadable.
const UNREADABLE_PERCENT: u64 = 50;

/// Timeout for reaching the desk.
const REACH_WAIT: Duration = Duration::from_secs(2);

/// Runs the clients for a while. Most of these events are stored, and none of them is acknowledged.
pub(super) async fn rage(square: &Arc<Square>, lasts: Duration) {
    let until = Instant::now() + lasts;
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(hang_up(Arc::clone(square), client, until));
    }
    while clients.join_next().await.is_some() {}
}

async fn hang_up(square: Arc<Square>, client: usize, until: Instant) {
    let begun = square.hung_up.load(Ordering::Relaxed);
    let mut dice = Dice::of(square.plan.seed ^ begun, 3_000 + client as u64);
    let mut next = Instant::now();
    for event in 0_u64.. {
        next += Duration::from_secs(1) / EACH_PER_S;
        tokio::time::sleep_until(next).await;
        if Instant::now() >= until {
            return;
        }
        let nonce = format!("h{begun}-{client}-{event}");
        // A request that does not reach the desk does not count.
        drop(timeout(REACH_WAIT, once(&square, &nonce, &mut dice)).await);
    }
}

async fn once(square: &Square, nonce: &str, dice: &mut Dice) -> anyhow::Result<()> {
    let plan = &square.plan;
    let conversation = &plan.conversations[dice.below(plan.conversations.len())];
    let mut ready = ready(plan, conversation, nonce, dice);
    let unreadable = dice.percent(UNREADABLE_PERCENT);
    if unreadable {
        ready.body = format!("{{\"id\":\"{nonce}\"}}").into_bytes();
    }
    let node = plan.nodes[dice.below(plan.nodes.len())];
    let mut connection = Connection::open(node).await?;
    if !unreadable {
        note_sent(square, conversation, &ready, None);
    }
    connection.begin(&ready.bot, &ready.body).await?;
    let (least, most) = HOLDS_US_LOG;
    let holds_us_max = 1 << (least + dice.below(most - least + 1));
    sleep(Duration::from_micros(dice.throw() % holds_us_max)).await;
    connection.hang_up();
    if !unreadable {
        square.notes.note(Event::PlatAck { id: ready.id, attempt: 1, status: 0 });
    }
    square.hung_up.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

//! A poster: sends one event after the other, each until the desk says "ok".

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nightdesk_judge::Event;
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{POSTERS, Square};
use crate::chance::Dice;
use crate::chaos::plan::{Conversation, Plan};
use crate::platform::Connection;
use crate::setup::{self, PLATFORM, SharedBot};

/// How long one attempt may take.
const ATTEMPT_WAIT: Duration = Duration::from_secs(10);

/// How often an event is sent at most.
const ATTEMPTS_MAX: u32 = 200;

/// Of how many events in a hundred the desk is told once more, though it said "ok".
const REPEATED_PERCENT: u64 = 1;

/// Of how many events in a hundred are a platform's own requests.
const FORWARDED_PERCENT: u64 = 3;

/// After how many events in a hundred a poster dials anew, or all would stay where a node did not
/// die lately.
const DIALS_PERCENT: u64 = 5;

/// A poster rests for so many times as long as its last event took, and for so long at most. So a
/// busy machine gets fewer events, and not a desk that is always behind with everything.
const RESTS: u32 = 4;
const REST_MAX: Duration = Duration::from_secs(1);

/// The longest text. Most are far shorter.
const FILL_MAX: usize = 20_000;

/// One event, ready to be sent.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) id: String,
    pub(super) bot: SharedBot,
    pub(super) body: Vec<u8>,
    /// Whose agents see it, in histories and in the tables.
    pub(super) seen_by: Vec<usize>,
}

/// Posts until the platform is told to stop.
pub(super) async fn post(square: Arc<Square>, number: usize) {
    let mut dice = Dice::of(square.plan.seed, 2_000 + number as u64);
    let plan = &square.plan;
    let mine: Vec<&Conversation> =
        plan.conversations.iter().skip(number).step_by(POSTERS).collect();
    let per_poster_us = POSTERS as u64 * 1_000_000 / plan.rate_per_s.max(1);
    let mut connection = None;
    let mut next = Instant::now();
    for event in 0_u64.. {
        // At no regular pace, or two who meet once would meet always, and others never.
        next += Duration::from_micros(dice.throw() % (2 * per_poster_us.max(1)));
        next = next.max(Instant::now());
        sleep_until(next).await;
        if square.stopping.load(Ordering::Relaxed) || mine.is_empty() {
            return;
        }
        let conversation = mine[dice.below(mine.len())];
        let ready = ready(plan, conversation, &format!("n{number}-{event}"), &mut dice);
        note_sent(&square, conversation, &ready, Some(event));
        let began = Instant::now();
        send(&square, &ready, &mut connection, &mut dice).await;
        next = next.max(Instant::now() + REST_MAX.min(RESTS * began.elapsed()));
        connection.take_if(|_| dice.percent(DIALS_PERCENT));
    }
}

/// Sends an event until the desk says "ok".
async fn send(
    square: &Square,
    ready: &Ready,
    connection: &mut Option<Connection>,
    dice: &mut Dice,
) {
    let mut repeats = u32::from(dice.percent(REPEATED_PERCENT));
    for attempt in 1..=ATTEMPTS_MAX {
        let node = square.plan.nodes[dice.below(square.plan.nodes.len())];
        let status = attempted(connection, node, ready).await;
        if status == 200 && dice.percent(square.plan.looks_percent) {
            square.look(ready).await;
        }
        square.notes.note(Event::PlatAck { id: ready.id.clone(), attempt, status });
        if status == 200 {
            square.told.fetch_add(u64::from(repeats == 0), Ordering::Relaxed);
            if repeats == 0 {
                return;
            }
            repeats -= 1;
        } else {
            sleep(dice.between_ms(100, 700)).await;
        }
    }
}

/// Posts once. The connection is kept for the next time if it is of use.
async fn attempted(connection: &mut Option<Connection>, node: SocketAddr, ready: &Ready) -> u16 {
    let posted = timeout(ATTEMPT_WAIT, async {
        let mut open = match connection.take() {
            Some(open) => open,
            None => Connection::open(node).await?,
        };
        let status = open.post(&ready.bot, &ready.body).await?;
        *connection = (status == 200).then_some(open);
        anyhow::Ok(status)
    });
    match posted.await {
        Ok(Ok(status)) => status,
        Ok(Err(_)) | Err(_) => 0,
    }
}

/// Notes that an event is sent, and what may become of it. What one poster sends has an order:
/// the next event of a chat is sent after the desk said "ok" to the last.
pub(super) fn note_sent(
    square: &Square,
    conversation: &Conversation,
    ready: &Ready,
    order: Option<u64>,
) {
    let plan = &square.plan;
    let nonce = ready.id.clone();
    if ready.seen_by.iter().any(|member| plan.manners[*member].may_park()) {
        square.notes.note(Event::MayPark { nonce: nonce.clone(), reason: "tries".to_owned() });
    }
    square.notes.note(Event::PlatSend {
        id: ready.id.clone(),
        bot: ready.bot.bot.to_string(),
        chat: conversation.chat.clone(),
        user: setup::author(conversation.member),
        nonce,
        expect: ready.seen_by.iter().map(|member| Plan::agent(*member)).collect(),
        order,
    });
}

/// Where all chats are.
const GUILD: &str = "guild";

/// Makes an event up. Its id is its nonce, too.
pub(super) fn ready(
    plan: &Plan,
    conversation: &Conversation,
    nonce: &str,
    dice: &mut Dice,
) -> Ready {
    let Conversation { member, chat, seen_by } = conversation;
    let author = setup::author(*member);
    let event = if dice.percent(FORWARDED_PERCENT) {
        json!({ "passthrough": {
            "platform": PLATFORM, "chat_id": chat, "chat_type": "channel", "scope_id": GUILD,
                "user_id": author,
            "method": "POST", "path": format!("/{nonce}"), "body_b64": "e30=",
        } })
    } else {
        json!({
            "text": format!("{nonce} {}", fill(dice)), "message_type": "text", "message_id": nonce,
            "source": {
                "platform": PLATFORM, "chat_id": chat, "chat_type": "channel", "scope_id": GUILD,
                "user_id": author,
                "user_name": "Ada",
            },
        })
    };
    Ready {
        id: nonce.to_owned(),
        bot: plan.cast.bots[plan.cast.members[*member].bot].clone(),
        body: json!({ "id": nonce, "event": event }).to_string().into_bytes(),
        seen_by: seen_by.clone(),
    }
}

fn fill(dice: &mut Dice) -> String {
    let most = if dice.percent(1) { FILL_MAX } else { 400 };
    "words ".repeat(dice.below(most / 6) + 1)
}

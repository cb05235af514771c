//! Posts one event after the other, each until the desk acknowledges it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nightdesk_judge::{Event, RATE_LIMIT};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{LENT, POSTERS, Square};
use crate::chance::Dice;
use crate::chaos::plan::{Conversation, Plan};
use crate::platform::Connection;
use crate::secrets::load::KIND;
use crate::setup::SharedBot;

/// Timeout of one attempt.
const ATTEMPT_WAIT: Duration = Duration::from_secs(10);

/// Maximum number of attempts for an event.
const ATTEMPTS_MAX: u32 = 200;

/// Mean time between two events of an author that floods: twice as many as ten times the limit of 30 per minute.
const FLOOD_EVERY_US: u64 = 100_000;

/// Percentage of events that are sent again although the desk acknowledged them.
const REPEATED_PERCENT: u64 = 1;

/// Percentage of events that are the platform's own requests.
const FORWARDED_PERCENT: u64 = 3;

/// Percentage of events after which a poster reconnects, or all posters would stay on nodes that have not died lately.
const DIALS_PERCENT: u64 = 5;

/// A poster pauses for this multiple of its last event's duration, up to the maximum. So a busy machine gets fewer
/// events instead of a desk that is always behind.
const RESTS: u32 = 4;
const REST_MAX: Duration = Duration::from_secs(1);

/// Maximum length of a text. Most are far shorter.
const FILL_MAX: usize = 20_000;

/// Percentage of events that lend a capability for the answer, in rooms that several tenants share and elsewhere.
const LENT_PERCENT: (u64, u64) = (35, 3);

/// Lifetimes of a capability in seconds. The long one outlasts all requests for it.
const GOOD_FOR_SECS: [u64; 2] = [3, 900];

/// An event that is ready to be sent.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) id: String,
    /// The capability that it lends, and its lifetime in seconds.
    lent: Option<(String, u64)>,
    is_shared: bool,
    pub(super) bot: SharedBot,
    pub(super) body: Vec<u8>,
    /// Members whose agents see it, in histories and in the tables.
    pub(super) seen_by: Vec<usize>,
}

/// Posts until the stop command.
pub(super) async fn post(square: Arc<Square>, number: usize) {
    let mut dice = Dice::of(square.plan.seed, 2_000 + number as u64);
    let plan = &square.plan;
    let (mine, per_poster_us) = share(plan, number);
    let mut connection = None;
    let mut next = Instant::now();
    for event in 0_u64.. {
        // The interval is random. At a fixed interval two posters that collide once would collide always, and others
        // never.
        next += Duration::from_micros(dice.throw() % (2 * per_poster_us.max(1)));
        next = next.max(Instant::now());
        sleep_until(next).await;
        if square.stopping.load(Ordering::Relaxed) || mine.is_empty() {
            return;
        }
        let conversation = mine[dice.below(mine.len())];
        let ready = ready(plan, conversation, &format!("n{number}-{event}"), &mut dice);
        // In a room several posters write.
        let order = (!conversation.is_shared).then_some(event);
        note_sent(&square, conversation, &ready, order);
        let began = Instant::now();
        send(&square, &ready, &mut connection, &mut dice).await;
        next = next.max(Instant::now() + REST_MAX.min(RESTS * began.elapsed()));
        connection.take_if(|_| dice.percent(DIALS_PERCENT));
    }
}

/// Returns the conversations of a poster, and the mean time between two of its events. The last posters flood.
fn share(plan: &Plan, number: usize) -> (Vec<&Conversation>, u64) {
    match number.checked_sub(POSTERS) {
        Some(nth) => (plan.floods.iter().skip(nth).take(1).collect(), FLOOD_EVERY_US),
        None => (
            plan.conversations.iter().skip(number).step_by(POSTERS).collect(),
            POSTERS as u64 * 1_000_000 / plan.rate_per_s.max(1),
        ),
    }
}

/// Sends an event until the desk acknowledges it. Returns true if each attempt was acknowledged: an attempt that was not
/// may still be executed.
pub(super) async fn send(
    square: &Square,
    ready: &Ready,
    connection: &mut Option<Connection>,
    dice: &mut Dice,
) -> bool {
    let mut repeats = u32::from(dice.percent(REPEATED_PERCENT));
    let mut is_plain = true;
    for attempt in 1..=ATTEMPTS_MAX {
        let node = square.plan.nodes[dice.below(square.plan.nodes.len())];
        let status = attempted(connection, node, ready).await;
        if status == 200 && dice.percent(square.plan.looks_percent) {
            square.look(ready).await;
        }
        square.notes.note(Event::PlatAck { id: ready.id.clone(), attempt, status });
        if status == 200 {
            if repeats == 0 {
                square.told.fetch_add(1, Ordering::Relaxed);
                square.shared.fetch_add(u64::from(ready.is_shared), Ordering::Relaxed);
                return is_plain;
            }
            repeats -= 1;
        } else {
            is_plain = false;
            sleep(dice.between_ms(100, 700)).await;
        }
    }
    false
}

/// Posts once. A usable connection is stored for the next event.
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

/// Records that an event is sent, and its possible outcomes. The events of one poster are ordered: the next event of a
/// chat is sent after the desk acknowledged the last.
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
    if conversation.is_flood {
        let reason = RATE_LIMIT.to_owned();
        square.notes.note(Event::MayPark { nonce: nonce.clone(), reason });
    }
    if let Some((capability, secs)) = &ready.lent {
        let (id, capability) = (ready.id.clone(), capability.clone());
        square.notes.note(Event::PlatLend { id, capability, good_for_ms: 1_000 * secs });
    }
    square.notes.note(Event::PlatSend {
        id: ready.id.clone(),
        bot: ready.bot.bot.to_string(),
        chat: conversation.place.chat.clone(),
        user: conversation.author.clone(),
        nonce,
        expect: ready.seen_by.iter().map(|member| Plan::agent(*member)).collect(),
        order,
    });
}

/// Returns a random event. Its id is also its nonce.
pub(super) fn ready(
    plan: &Plan,
    conversation: &Conversation,
    nonce: &str,
    dice: &mut Dice,
) -> Ready {
    let mut source = conversation.source();
    let is_forwarded = dice.percent(FORWARDED_PERCENT);
    let (in_rooms, elsewhere) = LENT_PERCENT;
    let lent_percent = if conversation.is_shared { in_rooms } else { elsewhere };
    let is_lent = !is_forwarded && dice.percent(lent_percent);
    let lent =
        is_lent.then(|| (format!("loan-{nonce}"), GOOD_FOR_SECS[dice.below(GOOD_FOR_SECS.len())]));
    let event = if is_forwarded {
        source["method"] = json!("POST");
        source["path"] = json!(format!("/{nonce}"));
        source["body_b64"] = json!("e30=");
        json!({ "passthrough": source })
    } else {
        source["user_name"] = json!("Ada");
        let lent = if is_lent { LENT } else { "" };
        json!({
            "text": format!("{nonce} {lent}{}", fill(dice)), "message_type": "text",
            "message_id": nonce, "source": source,
        })
    };
    let capability = lent.as_ref().map(
        |(capability, secs)| json!({ "kind": KIND, "value": capability, "expires_in_s": secs }),
    );
    Ready {
        id: nonce.to_owned(),
        lent,
        is_shared: conversation.is_shared,
        bot: plan.cast.bots[conversation.bot].clone(),
        body: json!({ "id": nonce, "event": event, "capability": capability })
            .to_string()
            .into_bytes(),
        seen_by: conversation.seen_by.clone(),
    }
}

fn fill(dice: &mut Dice) -> String {
    let most = if dice.percent(1) { FILL_MAX } else { 400 };
    "words ".repeat(dice.below(most / 6) + 1)
}

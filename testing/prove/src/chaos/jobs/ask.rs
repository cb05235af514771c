//! Sends an agent's job requests to a node, and returns the answers.

use std::net::SocketAddr;
use std::time::Duration;

use nightdesk_judge::{Event, JobAnswer, monotonic_ns};
use nightdesk_types::{Clock, Timestamp};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Diary;
use super::target::callback;
use crate::chance::Dice;
use crate::chaos::asking::{self, Heard, Request};
use crate::chaos::plan::Plan;

/// Timeout of a response.
const ANSWER_WAIT: Duration = Duration::from_secs(4);

/// Maximum number of attempts, each on another node.
const ATTEMPTS_MAX: usize = 60;

/// Range of the delay between attempts, in milliseconds.
const AGAIN_MS: (u64, u64) = (50, 400);

/// An instant at which an agent wants a fire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant {
    fire_at: Timestamp,
    pub(super) due_ns: u64,
}

impl Instant {
    /// Returns the instant after this time from now.
    pub(super) fn after(clock: &dyn Clock, wait: Duration) -> Self {
        let (now, now_ns) = (clock.now(), monotonic_ns());
        let span_us = i64::try_from(wait.as_micros()).unwrap_or_default();
        // The desk's clock has microsecond resolution.
        let fire_at = Timestamp::from_microsecond(now.as_microsecond() + span_us).unwrap_or(now);
        Self { fire_at, due_ns: now_ns + u64::try_from(wait.as_nanos()).unwrap_or_default() }
    }

    /// Returns the instant in microseconds.
    pub(super) fn us(self) -> u64 {
        self.fire_at.as_microsecond().unsigned_abs()
    }
}

/// A request of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    Arm(Instant),
    Cancel,
}

/// The final answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) answer: JobAnswer,
    /// True if a node gave no clear answer, and may still execute the request.
    pub(super) in_doubt: bool,
}

/// Sends the request to one node after the other until one gives a clear answer.
pub(super) async fn ask(
    diary: &Diary,
    (member, job): (usize, &str),
    wish: Wish,
    dice: &mut Dice,
) -> Told {
    let mut in_doubt = false;
    for _ in 0..ATTEMPTS_MAX {
        let node = diary.plan.nodes[dice.below(diary.plan.nodes.len())];
        let answer = ask_once(diary, (member, job), wish, node).await;
        if !matches!(answer, JobAnswer::Nothing | JobAnswer::Refused) {
            return Told { answer, in_doubt };
        }
        in_doubt |= answer == JobAnswer::Nothing;
        if diary.is_stopping() {
            break;
        }
        sleep(dice.between_ms(AGAIN_MS.0, AGAIN_MS.1)).await;
    }
    Told { answer: JobAnswer::Nothing, in_doubt: true }
}

async fn ask_once(
    diary: &Diary,
    (member, job): (usize, &str),
    wish: Wish,
    node: SocketAddr,
) -> JobAnswer {
    let request = diary.name("request");
    let (agent, name) = (Plan::agent(member), job.to_owned());
    let (path, body) = match wish {
        Wish::Arm(instant) => {
            let (fire_at_us, due_ns) = (instant.us(), instant.due_ns);
            let request = request.clone();
            diary.notes.note(Event::JobArm { request, agent, job: name, fire_at_us, due_ns });
            let (fire_at, callback) = (instant.fire_at.to_string(), callback(&diary.plan, member));
            let body = json!({ "job_id": job, "fire_at": fire_at, "agent_callback_url": callback });
            ("provision", body)
        }
        Wish::Cancel => {
            diary.notes.note(Event::JobCancel { request: request.clone(), agent, job: name });
            ("cancel", json!({ "job_id": job }))
        }
    };
    let token = diary.plan.cast.members[member].token(&diary.clock);
    let answer = asked(node, path, token.expose(), &body).await;
    diary.notes.note(Event::JobAnswer { request, answer });
    answer
}

async fn asked(node: SocketAddr, path: &str, token: &str, body: &Value) -> JobAnswer {
    let path = format!("/api/agent-cron/{path}");
    let request = Request { token, path: &path, body: Some(body), wait: ANSWER_WAIT };
    match asking::ask(node, request).await {
        Heard::Nobody => JobAnswer::Refused,
        Heard::Nothing => JobAnswer::Nothing,
        Heard::Answer(status, body) => meant(status, &body),
    }
}

/// Returns the meaning of a response. A desk that reports a failure may have executed the request.
fn meant(status: u16, body: &Value) -> JobAnswer {
    match (status, body["outcome"].as_str()) {
        (200, None) if body["schedule_id"].is_string() => JobAnswer::Armed,
        (200, Some("cancelled")) => JobAnswer::Cancelled,
        (200, Some("too_late")) => JobAnswer::TooLate,
        (200, Some("unknown")) => JobAnswer::Unknown,
        (400..500, _) => JobAnswer::Refused,
        _ => JobAnswer::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_means_something() {
        let cases = [
            (200, json!({ "schedule_id": "s" }), JobAnswer::Armed),
            (200, json!({ "ok": true, "outcome": "too_late" }), JobAnswer::TooLate),
            (200, Value::Null, JobAnswer::Nothing),
            (401, json!({}), JobAnswer::Refused),
            (503, json!({}), JobAnswer::Nothing),
        ];
        for (status, body, want) in cases {
            assert_eq!(meant(status, &body), want, "{status} {body}");
        }
    }

    #[test]
    fn an_instant_is_as_far_off_by_either_clock() {
        let clock = nightdesk_types::SystemClock::start();
        let (wall_us, since_ns) = (clock.now().as_microsecond().unsigned_abs(), monotonic_ns());
        let instant = Instant::after(&clock, Duration::from_secs(2));

        assert!((2_000_000..2_500_000).contains(&(instant.us() - wall_us)));
        assert!((2_000..2_500).contains(&((instant.due_ns - since_ns) / 1_000_000)));
    }
}

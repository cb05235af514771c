//! Simulates an agent that arms a job again and again, and sometimes cancels or changes it.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_judge::{JobAnswer, monotonic_ns};
use tokio::time::{sleep, timeout};

use super::Diary;
use super::ask::{Instant, Told, Wish, ask};
use crate::chance::Dice;

/// Range of the time until an instant, in milliseconds.
const SPAN_MS: (u64, u64) = (1_000, 3_000);

/// Percentage of jobs that are due at once.
const AT_ONCE_PERCENT: u64 = 5;

/// Range of the pause between a fire and the next arming, in milliseconds.
const REST_MS: (u64, u64) = (0, 300);

/// Time that an agent waits for a fire. The judge waits longer.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// Time before and after the instant in which a last-moment cancellation happens.
const MOMENT_BEFORE_MS: u64 = 20;
const MOMENT_MS: u64 = 80;

/// The agent's step after it has armed its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Waits.
    Waits,
    /// Repeats the same request, and waits.
    Repeats,
    /// Arms another instant meanwhile.
    ArmsAnew,
    Cancels,
}

impl Then {
    const fn thrown(dice: &mut Dice) -> Self {
        match dice.throw() % 100 {
            0..12 => Self::Cancels,
            12..24 => Self::ArmsAnew,
            24..30 => Self::Repeats,
            _ => Self::Waits,
        }
    }
}

/// Runs until the stop command.
pub(super) async fn live(diary: Arc<Diary>, member: usize) {
    let mut dice = Dice::of(diary.plan.seed, 7_000 + member as u64);
    let mut number = 0;
    while !diary.is_stopping() {
        // A new job name, because a node that did not answer may still execute its request on the old job.
        number += 1;
        let mut agent = Agent { diary: &diary, member, job: format!("job-{member}-{number}") };
        while !diary.is_stopping() && agent.arms(&mut dice).await {
            sleep(dice.between_ms(REST_MS.0, REST_MS.1)).await;
        }
    }
}

struct Agent<'a> {
    diary: &'a Diary,
    member: usize,
    job: String,
}

impl Agent<'_> {
    /// Arms its job and follows it to the end. Returns true if the desk's state of the job is certain.
    async fn arms(&mut self, dice: &mut Dice) -> bool {
        let at_once = dice.percent(AT_ONCE_PERCENT);
        let span = if at_once { Duration::ZERO } else { dice.between_ms(SPAN_MS.0, SPAN_MS.1) };
        let instant = Instant::after(&self.diary.clock, span);
        if !self.is_clear(Wish::Arm(instant), dice).await {
            return false;
        }
        match Then::thrown(dice) {
            Then::Waits => self.takes(instant).await,
            Then::Repeats => {
                self.is_clear(Wish::Arm(instant), dice).await && self.takes(instant).await
            }
            Then::ArmsAnew => {
                at_some_time(instant, dice).await;
                true
            }
            Then::Cancels => {
                at_some_time(instant, dice).await;
                self.is_clear(Wish::Cancel, dice).await
            }
        }
    }

    async fn is_clear(&self, wish: Wish, dice: &mut Dice) -> bool {
        let Told { answer, in_doubt } = ask(self.diary, (self.member, &self.job), wish, dice).await;
        answer != JobAnswer::Nothing && !in_doubt
    }

    /// Waits until it has taken the fire. After the timeout it abandons the job as it is.
    async fn takes(&self, instant: Instant) -> bool {
        let mut taken = self.diary.taken[self.member].subscribe();
        timeout(TAKEN_WITHIN, taken.wait_for(|us| *us == instant.us())).await.is_ok()
    }
}

/// Waits until a random time before an instant, or until about the instant itself.
async fn at_some_time(instant: Instant, dice: &mut Dice) {
    let left = Duration::from_nanos(instant.due_ns.saturating_sub(monotonic_ns()));
    let left_ms = u64::try_from(left.as_millis()).unwrap_or_default();
    let wait_ms = if dice.percent(50) {
        dice.throw() % (left_ms + 1)
    } else {
        left_ms.saturating_sub(MOMENT_BEFORE_MS) + dice.throw() % MOMENT_MS
    };
    sleep(Duration::from_millis(wait_ms)).await;
}

//! An agent with a job that it arms again and again. Now and then it changes its mind.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_judge::{JobAnswer, monotonic_ns};
use tokio::time::{sleep, timeout};

use super::Diary;
use super::ask::{Instant, Told, Wish, ask};
use crate::chance::Dice;

/// How far off instants are, in milliseconds.
const SPAN_MS: (u64, u64) = (1_000, 3_000);

/// Of how many instants in a hundred it is due at once.
const AT_ONCE_PERCENT: u64 = 5;

/// How long after a fire an agent arms the next, in milliseconds.
const REST_MS: (u64, u64) = (0, 300);

/// How long an agent waits for a fire. The judge waits longer.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// How long before and after its instant somebody cancels who does so at the last moment.
const MOMENT_BEFORE_MS: u64 = 20;
const MOMENT_MS: u64 = 80;

/// What an agent does once it has armed its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// It waits.
    Waits,
    /// It asks once more for the same, and waits.
    Repeats,
    /// It asks for another instant meanwhile.
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

/// Lives until it is told to stop.
pub(super) async fn live(diary: Arc<Diary>, member: usize) {
    let mut dice = Dice::of(diary.plan.seed, 7_000 + member as u64);
    let mut number = 0;
    while !diary.is_stopping() {
        // What may still be done by a node that did not answer would be done to the same job.
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
    /// Arms its job and sees it through. Answers whether it is clear what the desk knows of it.
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

    /// Waits until it has taken the fire; if that takes too long, it gives the job up as it is.
    async fn takes(&self, instant: Instant) -> bool {
        let mut taken = self.diary.taken[self.member].subscribe();
        timeout(TAKEN_WITHIN, taken.wait_for(|us| *us == instant.us())).await.is_ok()
    }
}

/// Waits until some time before an instant, or until that very moment.
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

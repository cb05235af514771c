//! I11: a cancelled job is not delivered afterwards. A cancel that is too late is reported so, and the job is delivered
//! once.

use super::jobs::{self, HELD_MS, Instant, Job, was_broken};
use super::{Findings, Invariant};
use crate::event::JobAnswer;
use crate::history::{FireReceipt, History, JobAsk, JobWish, Mark};

pub(super) fn check(history: &History, findings: &mut Findings) {
    for ((agent, name), job) in &jobs::all(history) {
        let cancels = job.asks.iter().filter(|ask| matches!(ask.wish, JobWish::Cancel));
        for cancel in cancels {
            if let Some((marks, why)) = wrong(history, job, cancel) {
                let marks = marks.into_iter().chain([cancel.mark]);
                findings.add(Invariant::Cancel, marks, || {
                    format!("{} of {} {why}", history.text(*name), history.text(*agent))
                });
            }
        }
    }
}

type Wrong = (Vec<Mark>, &'static str);

fn wrong(history: &History, job: &Job<'_>, cancel: &JobAsk) -> Option<Wrong> {
    if let Some(cancelled) = cancel.told_at(JobAnswer::Cancelled) {
        let later = told_after(job, cancel, cancelled);
        return (!later.is_empty())
            .then(|| ([vec![cancelled], later].concat(), "was told after it was cancelled"));
    }
    let too_late = cancel.told_at(JobAnswer::TooLate)?;
    let later = told_after(job, cancel, too_late);
    if later.len() > 1 {
        return Some(([vec![too_late], later].concat(), "was told again after a cancel"));
    }
    let was_told = job.instants.values().any(|instant| was_told_then(history, instant, cancel));
    (history.quiesced.is_some() && !was_told)
        .then(|| (vec![too_late], "was too late to be cancelled, and nobody was told"))
}

/// Returns the later deliveries of instants that were armed before the cancel.
fn told_after(job: &Job<'_>, cancel: &JobAsk, answered: Mark) -> Vec<Mark> {
    let is_meant =
        |instant: &&Instant<'_>| instant.settled().is_some_and(|settled| settled < cancel.mark);
    let meant = job.instants.values().filter(is_meant);
    let told = meant.flat_map(|instant| &instant.receipts).map(|receipt| receipt.mark);
    told.filter(|mark| *mark > answered).collect()
}

/// Returns true if an instant was in progress during a cancel: the agent took it or refused it, or there was a fault.
fn was_told_then(history: &History, instant: &Instant<'_>, cancel: &JobAsk) -> bool {
    let since = cancel.mark.minus_ms(HELD_MS);
    let then = |told: &&&FireReceipt| told.mark.at_ns >= since.at_ns;
    let said_no = |told: &FireReceipt| told.heard().is_none();
    let mut told = instant.receipts.iter().filter(then);
    let is_taken = instant.rows.iter().any(|row| row.is_taken());
    told.any(|told| is_taken || said_no(told))
        || was_broken(history, since, cancel.mark.plus_ms(HELD_MS))
}

#[cfg(test)]
mod tests {
    use crate::check::fire_tale::Step::{Arm, Armed, Cancel, Fault, Kept, Said, Told, Wait};
    use crate::check::fire_tale::{Step, told};
    use crate::event::{FireState, JobAnswer};

    const CANCELLED: JobAnswer = JobAnswer::Cancelled;
    const TOO_LATE: JobAnswer = JobAnswer::TooLate;
    const UNDONE: Step = Kept(1, 1, FireState::Skipped, Some("cancelled"));
    const TAKEN: Step = Kept(1, 1, FireState::Fired, None);

    #[test]
    fn what_was_cancelled_is_not_told_afterwards() {
        let cases: [(&str, &[Step], &[&str]); 6] = [
            ("before its time", &[Arm(1), Armed, Cancel(CANCELLED)], &[]),
            (
                "between two tries",
                &[Arm(1), Armed, Told(1, 1), Said(503), Cancel(CANCELLED), UNDONE],
                &[],
            ),
            (
                "told later",
                &[Arm(1), Armed, Cancel(CANCELLED), Told(1, 1), Said(202), TAKEN],
                &["I11"],
            ),
            (
                "tried later",
                &[
                    Arm(1),
                    Armed,
                    Told(1, 1),
                    Said(503),
                    Cancel(CANCELLED),
                    Told(1, 1),
                    Said(503),
                    UNDONE,
                ],
                &["I11"],
            ),
            (
                "armed anew",
                &[
                    Arm(1),
                    Armed,
                    Cancel(CANCELLED),
                    Arm(2),
                    Armed,
                    Told(2, 2),
                    Said(202),
                    Kept(2, 2, FireState::Fired, None),
                ],
                &[],
            ),
            (
                "armed again, perhaps",
                &[Arm(1), Armed, Arm(1), Cancel(CANCELLED), Told(1, 1), Said(202), TAKEN],
                &[],
            ),
        ];
        for (name, steps, want) in cases {
            assert_eq!(told(steps).broken_so_far(), want, "{name}");
        }
    }

    #[test]
    fn who_cancels_too_late_is_told_once() {
        let cases: [(&str, &[Step], &[&str]); 7] = [
            ("taken", &[Arm(1), Armed, Told(1, 1), Cancel(TOO_LATE), Said(202), TAKEN], &[]),
            ("taken later", &[Arm(1), Armed, Cancel(TOO_LATE), Told(1, 1), Said(202), TAKEN], &[]),
            ("refused", &[Arm(1), Armed, Told(1, 1), Cancel(TOO_LATE), Said(503), UNDONE], &[]),
            ("nobody was told", &[Arm(1), Armed, Cancel(TOO_LATE), UNDONE], &["I11"]),
            (
                "nor before",
                &[Arm(1), Armed, Told(1, 1), Said(202), Wait(11_000), Cancel(TOO_LATE), TAKEN],
                &["I11"],
            ),
            ("a node died", &[Arm(1), Armed, Fault("node-1"), Cancel(TOO_LATE), UNDONE], &[]),
            (
                "told twice",
                &[
                    Arm(1),
                    Armed,
                    Cancel(TOO_LATE),
                    Told(1, 1),
                    Said(503),
                    Told(1, 1),
                    Said(202),
                    TAKEN,
                ],
                &["I11"],
            ),
        ];
        for (name, steps, want) in cases {
            assert_eq!(told(steps).broken_so_far(), want, "{name}");
        }
    }
}

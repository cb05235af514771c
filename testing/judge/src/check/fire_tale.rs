//! Test histories of alice and her recurring job.

use crate::event::{Event, FireState, JobAnswer};
use crate::tale::Tale;

/// A step. Instants and ids are distinguished by numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Alice arms an instant that is now, or in so many milliseconds.
    Arm(u64),
    ArmIn(u64, u64),
    /// The result of the arming.
    Armed,
    Answered(JobAnswer),
    /// Alice cancels the job and gets this result.
    Cancel(JobAnswer),
    /// The desk delivers an instant under an id.
    Told(u64, u64),
    /// Alice responds, or her response is cut off.
    Said(u16),
    Cut(u16),
    /// At the end the tables have a fire: instant and id. Its arming is the instant's number.
    Kept(u64, u64, FireState, Option<&'static str>),
    Wait(u64),
    Fault(&'static str),
    FaultOver,
}

/// Returns the history of these steps. The tables are read last, after the run is over.
pub(crate) fn told(steps: &[Step]) -> Tale {
    let mut tale = Tale::with_faults();
    let is_kept = |step: &&Step| matches!(step, Step::Kept(..));
    let mut number = 0;
    for step in steps.iter().filter(|step| !is_kept(step)) {
        number += 1;
        tell(&mut tale, *step, number);
    }
    tale.note(Event::Quiesce);
    for step in steps.iter().filter(is_kept) {
        number += 1;
        tell(&mut tale, *step, number);
    }
    tale
}

fn tell(tale: &mut Tale, step: Step, number: u64) {
    let [agent, job, fault] = ["alice", "tick", "f"].map(str::to_owned);
    let name = |what: &str, number: u64| format!("{what}-{number}");
    let request = name("request", number);
    match step {
        Step::Arm(instant) => {
            let due_ns = tale.now_ns();
            tale.note(Event::JobArm { request, agent, job, fire_at_us: instant, due_ns })
        }
        Step::ArmIn(instant, ms) => {
            let due_ns = tale.now_ns() + ms * 1_000_000;
            tale.note(Event::JobArm { request, agent, job, fire_at_us: instant, due_ns })
        }
        Step::Armed => tell_answer(tale, number, JobAnswer::Armed),
        Step::Answered(answer) => tell_answer(tale, number, answer),
        Step::Cancel(answer) => {
            let asked = request.clone();
            tale.note(Event::JobCancel { request, agent, job });
            tale.note(Event::JobAnswer { request: asked, answer })
        }
        Step::Told(fire_at_us, id) => {
            let (receipt, fire_id) = (name("receipt", number), name("fire", id));
            tale.note(Event::FireRecv { receipt, agent, job, fire_at_us, fire_id })
        }
        Step::Said(status) => tell_said(tale, status, false),
        Step::Cut(status) => tell_said(tale, status, true),
        Step::Kept(fire_at_us, id, state, cause) => {
            let (fire_id, cause) = (name("fire", id), cause.map(str::to_owned));
            let arming = fire_at_us;
            tale.note(Event::FireRow { fire_id, agent, job, fire_at_us, arming, state, cause })
        }
        Step::Wait(ms) => tale.wait_ms(ms),
        Step::Fault(target) => tale.fault_on(&fault, target),
        Step::FaultOver => tale.fault_off(&fault),
    };
}

/// Adds the response to the request of the previous step.
fn tell_answer(tale: &mut Tale, number: u64, answer: JobAnswer) -> &mut Tale {
    tale.note(Event::JobAnswer { request: format!("request-{}", number - 1), answer })
}

/// Adds the response to the newest call without one.
fn tell_said(tale: &mut Tale, status: u16, cut: bool) -> &mut Tale {
    let newest = tale.records.iter().rev().find_map(|record| {
        let Event::FireRecv { receipt, .. } = &record.ev else { return None };
        Some(receipt.clone())
    });
    tale.note(Event::FireAnswer { receipt: newest.unwrap_or_default(), status, cut })
}

//! Tales of alice and the job of hers that is due again and again.

use crate::event::{Event, FireState, JobAnswer};
use crate::tale::Tale;

/// What happens. Instants are told apart by a number, and so are ids.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Alice asks to be told of an instant that is now, or in so many milliseconds.
    Arm(u64),
    ArmIn(u64, u64),
    /// What came of that.
    Armed,
    Answered(JobAnswer),
    /// She cancels the job, and hears this.
    Cancel(JobAnswer),
    /// She is told of an instant under an id, ...
    Told(u64, u64),
    /// ... and answers; or tries to.
    Said(u16),
    Cut(u16),
    /// At the end, the tables have a fire: instant and id; its arming is the instant's number.
    Kept(u64, u64, FireState, Option<&'static str>),
    Wait(u64),
    Fault(&'static str),
    FaultOver,
}

/// The tale of these steps. What the tables have is looked at last, when all is quiet.
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

/// The answer to what was asked in the step before.
fn tell_answer(tale: &mut Tale, number: u64, answer: JobAnswer) -> &mut Tale {
    tale.note(Event::JobAnswer { request: format!("request-{}", number - 1), answer })
}

/// The answer to the newest call that has none.
fn tell_said(tale: &mut Tale, status: u16, cut: bool) -> &mut Tale {
    let newest = tale.records.iter().rev().find_map(|record| {
        let Event::FireRecv { receipt, .. } = &record.ev else { return None };
        Some(receipt.clone())
    });
    tale.note(Event::FireAnswer { receipt: newest.unwrap_or_default(), status, cut })
}

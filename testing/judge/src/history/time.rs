//! Rows of jobs and fires: requests, deliveries, and the state of the tables.

use std::collections::BTreeSet;

use crate::event::{Event, FireState, JobAnswer};
use crate::history::History;
use crate::history::rows::Mark;
use crate::names::Name;

/// An agent's request about a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobAsk {
    pub(crate) mark: Mark,
    pub(crate) agent: Name,
    pub(crate) job: Name,
    pub(crate) wish: JobWish,
    /// The result and its time.
    pub(crate) answer: Option<(Mark, JobAnswer)>,
}

/// The kind of request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JobWish {
    /// Arm this instant.
    Arm { fire_at_us: u64, due_ns: u64 },
    /// Cancel the job.
    Cancel,
}

impl JobAsk {
    /// Returns the result, if it is clear.
    pub(crate) fn told(&self) -> Option<(Mark, JobAnswer)> {
        self.answer.filter(|(_, answer)| *answer != JobAnswer::Nothing)
    }

    /// Returns the time of this result, if the agent got it.
    pub(crate) fn told_at(&self, what: JobAnswer) -> Option<Mark> {
        self.told().filter(|(_, answer)| *answer == what).map(|(mark, _)| mark)
    }

    /// Returns true if the desk may have executed the request at this time or later.
    pub(crate) fn may_be_done_after(&self, mark: Mark) -> bool {
        self.told().is_none_or(|(told, answer)| answer != JobAnswer::Refused && told >= mark)
    }
}

/// A fire that an agent received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FireReceipt {
    pub(crate) mark: Mark,
    pub(crate) agent: Name,
    pub(crate) job: Name,
    pub(crate) fire_at_us: u64,
    pub(crate) fire: Name,
    pub(crate) answer: Option<FireAnswer>,
}

/// The agent's response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FireAnswer {
    pub(crate) mark: Mark,
    pub(crate) status: u16,
    pub(crate) cut: bool,
}

impl FireReceipt {
    /// Returns the response with which the agent took the fire, even if it was cut off.
    pub(crate) fn taken(&self) -> Option<FireAnswer> {
        self.answer.filter(|answer| (200..300).contains(&answer.status))
    }

    /// Returns the time at which the agent took the fire, if the response was not cut off.
    pub(crate) fn heard(&self) -> Option<Mark> {
        self.taken().filter(|answer| !answer.cut).map(|answer| answer.mark)
    }
}

/// A fire in the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FireRow {
    pub(crate) mark: Mark,
    pub(crate) fire: Name,
    pub(crate) agent: Name,
    pub(crate) job: Name,
    pub(crate) fire_at_us: u64,
    pub(crate) arming: u64,
    pub(crate) state: FireState,
    pub(crate) cause: Option<Name>,
}

impl FireRow {
    /// Returns true if the tables show that the agent took it.
    pub(crate) const fn is_taken(&self) -> bool {
        matches!(self.state, FireState::Fired | FireState::Late)
    }

    /// Returns true if it has ended.
    pub(crate) const fn is_over(&self) -> bool {
        !matches!(self.state, FireState::Open | FireState::Held)
    }
}

impl History {
    pub(super) fn take_time(&mut self, mark: Mark, event: &Event) {
        if let Event::JobArm { request, agent, job, fire_at_us, due_ns } = event {
            let wish = JobWish::Arm { fire_at_us: *fire_at_us, due_ns: *due_ns };
            self.take_ask(mark, [request, agent, job], wish);
        } else if let Event::JobCancel { request, agent, job } = event {
            self.take_ask(mark, [request, agent, job], JobWish::Cancel);
        } else if let Event::JobAnswer { request, answer } = event {
            let request = self.names.of(request);
            if let Some(row) = self.job_ask_by_request.get(request) {
                self.job_asks[row].answer.get_or_insert((mark, *answer));
            }
        } else if let Event::FireRecv { receipt, agent, job, fire_at_us, fire_id } = event {
            let [receipt, agent, job, fire] = self.names([receipt, agent, job, fire_id]);
            let (fire_at_us, answer) = (*fire_at_us, None);
            self.fire_by_receipt.set(receipt, self.fire_receipts.len());
            self.fire_receipts.push(FireReceipt { mark, agent, job, fire_at_us, fire, answer });
        } else if let Event::FireAnswer { receipt, status, cut } = event {
            let receipt = self.names.of(receipt);
            if let Some(row) = self.fire_by_receipt.get(receipt) {
                let answer = FireAnswer { mark, status: *status, cut: *cut };
                self.fire_receipts[row].answer.get_or_insert(answer);
            }
        } else if let Event::FireRow { fire_id, agent, job, fire_at_us, arming, state, cause } =
            event
        {
            let [fire, agent, job] = self.names([fire_id, agent, job]);
            let cause = cause.as_deref().map(|cause| self.names.of(cause));
            let (fire_at_us, arming, state) = (*fire_at_us, *arming, *state);
            let row = FireRow { mark, fire, agent, job, fire_at_us, arming, state, cause };
            self.fire_rows.push(row);
        }
    }

    fn take_ask(&mut self, mark: Mark, texts: [&String; 3], wish: JobWish) {
        let [request, agent, job] = self.names(texts);
        self.job_ask_by_request.set(request, self.job_asks.len());
        self.job_asks.push(JobAsk { mark, agent, job, wish, answer: None });
    }

    /// Returns the number of fires that agents took.
    pub(crate) fn fires_taken(&self) -> u64 {
        let taken = self.fire_receipts.iter().filter(|receipt| receipt.taken().is_some());
        taken.map(|receipt| receipt.fire).collect::<BTreeSet<_>>().len() as u64
    }
}

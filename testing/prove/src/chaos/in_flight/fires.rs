//! Finds the jobs that were armed at a time and not fired yet.

use std::collections::HashMap;

use nightdesk_judge::{Event, JobAnswer, Record};

/// An instant of a job.
type Instant = (String, u64);

/// Times at which each instant was armed, and first taken.
#[derive(Debug, Default)]
pub(super) struct Fires {
    asked: HashMap<String, Instant>,
    told: HashMap<String, Instant>,
    armed: HashMap<Instant, u64>,
    taken: HashMap<Instant, u64>,
}

impl Fires {
    /// Returns the number of instants that were armed at that time and taken later.
    pub(super) fn untold(&self, at_ns: u64) -> usize {
        let is_untold = |(instant, armed): &(&Instant, &u64)| {
            **armed <= at_ns && self.taken.get(*instant).is_some_and(|taken| *taken > at_ns)
        };
        self.armed.iter().filter(is_untold).count()
    }

    /// Adds a record. The records of one process are in time order.
    pub(super) fn take(&mut self, record: &Record) {
        if let Event::JobArm { request, job, fire_at_us, .. } = &record.ev {
            self.asked.insert(request.clone(), (job.clone(), *fire_at_us));
        } else if let Event::JobAnswer { request, answer: JobAnswer::Armed } = &record.ev
            && let Some(instant) = self.asked.get(request)
        {
            self.armed.entry(instant.clone()).or_insert(record.at_ns);
        } else if let Event::FireRecv { receipt, job, fire_at_us, .. } = &record.ev {
            self.told.insert(receipt.clone(), (job.clone(), *fire_at_us));
        } else if let Event::FireAnswer { receipt, status: 200..300, .. } = &record.ev
            && let Some(instant) = self.told.get(receipt)
        {
            self.taken.entry(instant.clone()).or_insert(record.at_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_hit_between_its_arming_and_its_fire() {
        let text = str::to_owned;
        let (request, receipt) = (text("q"), text("r"));
        let (agent, job, fire_at_us) = (text("ada"), text("tick"), 7);
        let events = [
            Event::JobArm {
                request: request.clone(),
                agent: agent.clone(),
                job: job.clone(),
                fire_at_us,
                due_ns: 7,
            },
            Event::JobAnswer { request, answer: JobAnswer::Armed },
            Event::FireRecv {
                receipt: receipt.clone(),
                agent,
                job,
                fire_at_us,
                fire_id: text("f"),
            },
            Event::FireAnswer { receipt, status: 202, cut: false },
        ];
        let mut fires = Fires::default();
        for (ev, n) in events.into_iter().zip(1..) {
            fires.take(&Record { at_ns: n * 10, proc: text("jobs"), n, ev });
        }

        for (at_ns, want) in [(10, 0), (20, 1), (39, 1), (40, 0)] {
            assert_eq!(fires.untold(at_ns), want, "at {at_ns}");
        }
    }
}

//! Computes the calls after which the desk has armed exactly the jobs of the book.

use std::collections::BTreeMap;

use nightdesk_protocol::http::cron::ArmedCronJob;

use super::book::{Book, DueJob, format_time};

/// The calls to the desk.
#[derive(Debug, PartialEq)]
pub(super) struct Plan<'a> {
    /// Jobs that are not armed, or for another time.
    pub(super) arm: Vec<DueJob<'a>>,
    /// Armed jobs that must not be.
    pub(super) cancel: Vec<&'a str>,
}

/// Compares the book with the armed jobs.
pub(super) fn plan<'a>(book: &'a Book, armed: &'a [ArmedCronJob]) -> Plan<'a> {
    let kept: BTreeMap<&str, &str> =
        armed.iter().map(|armed| (armed.job_id.as_str(), armed.fire_at.as_str())).collect();
    let is_armed = |due: &DueJob<'_>| kept.get(due.job.id()) == Some(&format_time(due.at).as_str());
    Plan {
        arm: book.live_jobs().filter(|due| !is_armed(due)).collect(),
        cancel: kept.into_keys().filter(|id| book.due_job(id).is_none()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nightdesk_types::Timestamp;

    use super::*;
    use crate::cron::{Job, Schedule};

    const NOW: Timestamp = Timestamp::constant(1_795_003_200, 0);

    fn armed(job_id: &str, fire_at: &str) -> ArmedCronJob {
        let schedule_id = "s".to_owned();
        ArmedCronJob { job_id: job_id.to_owned(), fire_at: fire_at.to_owned(), schedule_id }
    }

    #[test]
    fn arms_what_is_missing_or_differs_by_a_byte_and_cancels_orphans() {
        let mut book = Book::default();
        for id in ["same", "moved", "spelled", "missing"] {
            let every = Schedule::every(Duration::from_secs(20)).unwrap();
            book.set(Job::new(id, every), NOW).unwrap();
        }
        let due = "2026-11-18T12:00:20+00:00";
        let listed = [
            armed("same", due),
            armed("moved", "2026-11-18T12:00:40+00:00"),
            armed("spelled", "2026-11-18T12:00:20Z"),
            armed("orphan", due),
        ];

        let Plan { arm, cancel } = plan(&book, &listed);

        let arm: Vec<_> = arm.iter().map(|due| (due.job.id(), format_time(due.at))).collect();
        assert_eq!(
            arm,
            ["missing", "moved", "spelled"].map(|id| (id, due.to_owned())),
            "in their order"
        );
        assert_eq!(cancel, ["orphan"]);
    }
}

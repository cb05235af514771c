//! Promises of the store of jobs and fires.

use std::time::Duration;

use nightdesk_schedule::{
    ActiveJob, ArmRequest, CancelOutcome, ClaimBatch, FireAt, FireCause, FireClaim, FireEnd,
    FireEnding, FireState, JobId, Policies, RunReport, ScheduledJob, Target,
};
use nightdesk_types::{AgentId, FireId, Node, StoreError, TenantScope};
use nightdesk_wake::NoticeKind;

use super::TimedHarness;
use super::cast::{Cast, Person};

mod arming;
mod cancelling;
mod claiming;
mod ending;
mod overlap;
mod shown;

pub use arming::{
    a_job_armed_anew_is_another_arming, a_past_instant_is_due_at_once,
    a_put_off_job_has_its_moment, a_tenant_arms_as_many_jobs_as_it_may,
    an_agent_arms_as_many_jobs_as_it_may, an_armed_job_is_as_it_was_written,
    arms_at_once_come_one_after_the_other, arms_at_once_keep_to_the_quota,
    asked_again_nothing_changes, nobody_arms_for_a_foreign_agent,
    the_instant_that_is_told_is_not_armed_again, what_waits_ends_when_its_job_is_armed_anew,
    what_was_superseded_is_not_tried_again,
};
pub use cancelling::{
    a_cancel_and_a_claim_at_once_agree, a_cancelled_job_is_not_told,
    a_deprovisioned_agent_is_told_of_nothing, a_try_that_may_be_over_is_cancelled,
    what_waits_is_cancelled, who_cancels_too_late_hears_so,
};
pub use claiming::{
    a_claim_is_held_and_then_anybodys, a_little_late_is_in_time, claims_at_once_share_the_jobs,
    nothing_is_told_early, nothing_is_told_twice, the_dead_are_told_of_nothing_due,
    the_longest_due_come_first, what_comes_too_late_is_missed, what_comes_within_its_time_is_told,
    when_something_more_is_due_is_told,
};
pub use ending::{
    a_day_of_tries_is_enough, a_fire_is_taken_once, a_late_fire_is_written_down_as_late,
    a_missed_fire_is_told_of, a_try_that_was_not_made_does_not_count,
    fires_that_end_at_once_end_each_by_itself, only_the_newest_try_is_missed,
    what_came_of_a_try_is_known_in_the_next, what_is_put_is_taken_and_is_there_once,
};
pub use overlap::{
    a_report_counts_once, a_report_says_that_a_fire_was_taken, a_run_ends_of_itself_after_a_while,
    a_run_that_is_not_over_is_let_be, a_run_that_is_not_over_is_waited_for,
    a_run_that_is_not_over_may_not_matter,
};
pub use shown::{
    a_job_armed_again_is_recurring, a_job_that_should_be_armed_is_flagged_once,
    a_job_that_was_cancelled_is_not_missed, fires_are_shown_newest_first, jobs_are_shown_in_pages,
    nobody_sees_another_tenants_jobs, what_is_over_is_forgotten,
};

const URL: &str = "https://agents.example/api/cron/fire";

/// Tolerance for a clock that runs during a check.
const LITTLE: Duration = Duration::from_secs(20);

const HOUR: Duration = Duration::from_hours(1);

/// A lease that no test outlasts.
const LIFE: Duration = Duration::from_hours(24 * 365);

/// A person with an agent, and a live node.
struct Stage<'h, H> {
    harness: &'h H,
    cast: Cast<'h>,
    ann: Person,
    node: Node,
}

fn job(name: &str) -> JobId {
    JobId::new(name).expect("a name of ours")
}

impl<'h, H: TimedHarness> Stage<'h, H> {
    async fn of(harness: &'h H) -> Self {
        let cast = Cast::of(harness).await;
        let ann = cast.person("ann").await;
        let node = begin(harness, "node-1").await;
        Self { harness, cast, ann, node }
    }

    const fn whose(&self) -> (TenantScope, AgentId) {
        (self.ann.scope, self.ann.agent)
    }

    /// Returns a job that is due after `wait`.
    fn in_a(&self, wait: Duration, name: &str) -> ArmRequest {
        ArmRequest {
            job: job(name),
            fire_at: FireAt::from_timestamp(
                self.harness.now().checked_add(wait).expect("a moment"),
            ),
            to: Target::Callback(URL.to_owned()),
            recurring: false,
            reports: false,
            policies: Policies::default(),
        }
    }

    /// Returns a job that is due now.
    fn due(&self, name: &str) -> ArmRequest {
        self.in_a(Duration::ZERO, name)
    }

    async fn try_arm(&self, arm: &ArmRequest) -> Result<ActiveJob, StoreError> {
        self.harness.schedule().arm(self.ann.scope, self.ann.agent, arm).await
    }

    async fn arm(&self, arm: &ArmRequest) -> ActiveJob {
        self.try_arm(arm).await.expect("arm a job")
    }

    async fn cancel(&self, name: &str) -> CancelOutcome {
        let (scope, agent) = self.whose();
        self.harness.schedule().cancel(scope, agent, &job(name)).await.expect("cancel a job")
    }

    /// Returns the jobs that are armed or have an open fire, by name.
    async fn armed(&self) -> Vec<ActiveJob> {
        let (scope, agent) = self.whose();
        self.harness.schedule().armed_jobs(scope, agent).await.expect("look what is armed")
    }

    async fn claim(&self) -> ClaimBatch {
        self.harness.schedule().claim(&self.node, 100).await.expect("claim fires")
    }

    /// Claims the only fire that is due.
    async fn told(&self) -> FireClaim {
        let mut claims = self.claim().await;
        assert_eq!(claims.fires.len(), 1, "one is to be told: {claims:?}");
        assert_eq!(claims.passed, [], "nothing passed");
        claims.fires.swap_remove(0)
    }

    /// Asserts that no fire is due and none ended without a call.
    async fn quiet(&self) {
        let claims = self.claim().await;
        assert_eq!((claims.fires, claims.passed), (Vec::new(), Vec::new()));
    }

    /// Claims, and returns the only fire that ended without a call.
    async fn passed(&self) -> (JobId, (FireState, Option<FireCause>)) {
        let mut claims = self.claim().await;
        assert_eq!(claims.fires, [], "nobody is told");
        assert_eq!(claims.passed.len(), 1, "one passed: {claims:?}");
        let passed = claims.passed.swap_remove(0);
        assert!(passed.ended_at.is_some());
        (passed.job, (passed.state, passed.cause))
    }

    async fn end(&self, claimed: &FireClaim, end: FireEnd) -> bool {
        let ended = self.harness.schedule().end(&[ending(claimed, end)]).await;
        ended.expect("end a fire") == [true]
    }

    async fn take(&self, claimed: &FireClaim) {
        assert!(self.end(claimed, FireEnd::Taken).await, "it was open");
    }

    async fn again(&self, claimed: &FireClaim, wait: Duration) -> bool {
        let again = self.harness.schedule().record_retry(claimed, "503", wait, true).await;
        again.expect("note a try")
    }

    async fn report(&self, fire: FireId) -> bool {
        let report = RunReport { ok: true, note: Some("went well".to_owned()) };
        let (scope, agent) = self.whose();
        let reported = self.harness.schedule().report(scope, agent, fire, &report).await;
        reported.expect("report a run")
    }

    async fn job(&self, name: &str) -> ScheduledJob {
        let (scope, agent) = self.whose();
        let found = self.harness.jobs().find_job(scope, agent, &job(name)).await;
        found.expect("look at a job").expect("there is such a job")
    }

    /// Returns the state of a job's newest fire.
    async fn last(&self, name: &str) -> (FireState, Option<FireCause>) {
        let last = self.job(name).await.last.expect("it fired");
        (last.state, last.cause)
    }

    async fn pass(&self, span: Duration) {
        self.harness.let_pass(span).await;
    }

    /// Returns the owner's notices of this kind.
    async fn notices(&self, kind: NoticeKind) -> Vec<String> {
        let notices = self.harness.wakers().notices(self.ann.scope).await.expect("read notices");
        let of_kind = notices.into_iter().filter(|notice| notice.kind == kind);
        of_kind.map(|notice| notice.outcome.expect("it says which")).collect()
    }
}

async fn begin(harness: &impl TimedHarness, name: &str) -> Node {
    let epoch = harness.lease().begin(name, LIFE).await.expect("a node begins");
    Node { name: name.to_owned(), epoch }
}

fn ending(claimed: &FireClaim, end: FireEnd) -> FireEnding {
    FireEnding { claimed: claimed.clone(), end, outcome: "an outcome".to_owned() }
}

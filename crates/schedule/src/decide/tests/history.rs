//! A random history of one job: the agent, the operator and the nodes do something, and time passes.

use super::*;

/// One step of a history.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Pass(Duration),
    Arm(Arming),
    Cancel,
    Claim,
    /// A node that claimed a fire got the agent's response.
    End {
        call: usize,
        end: FireEnd,
    },
    Retry {
        call: usize,
        wait: Duration,
        counts: bool,
    },
    Report {
        fire: usize,
    },
}

/// A request of the agent for an instant `delay` from now.
#[derive(Clone, Debug)]
pub(super) struct Arming {
    delay: Duration,
    jitter: Duration,
    overlap: Overlap,
    catch_up: Duration,
    reports: bool,
    recurring: bool,
}

/// A call that a node was to make.
#[derive(Clone, Copy, Debug)]
struct Call {
    fire: usize,
    attempt: u32,
    at: Timestamp,
}

/// The rows of the job, and the calls that were made.
pub(super) struct History {
    now: Timestamp,
    job: JobRecord,
    fires: Vec<FireRecord>,
    calls: Vec<Call>,
    /// The columns of fires that are over.
    over: Vec<(usize, FireStatus)>,
    /// The job was cancelled, and not armed since: the number of calls at that time.
    cancelled_at: Option<usize>,
}

pub(super) fn request(at: Timestamp) -> ArmRequest {
    ArmRequest {
        job: JobId::new("job").unwrap(),
        fire_at: FireAt::from_timestamp(at),
        to: Target::Callback("https://agent.example.org".to_owned()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    }
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..40)
}

fn span() -> impl Strategy<Value = Duration> {
    let secs = prop_oneof![0_u64..3, 5_u64..20, 50_u64..70, 3_000_u64..4_000, 80_000_u64..90_000];
    secs.prop_map(Duration::from_secs)
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![Just(FireEnd::Taken), Just(FireEnd::Missed(FireCause::Refused))];
    prop_oneof![
        3 => span().prop_map(Step::Pass),
        3 => arming().prop_map(Step::Arm),
        1 => Just(Step::Cancel),
        4 => Just(Step::Claim),
        2 => (0_usize..4, end).prop_map(|(call, end)| Step::End { call, end }),
        2 => (0_usize..4, span(), any::<bool>())
            .prop_map(|(call, wait, counts)| Step::Retry { call, wait, counts }),
        1 => (0_usize..4).prop_map(|fire| Step::Report { fire }),
    ]
}

fn arming() -> impl Strategy<Value = Arming> {
    let overlap = prop::sample::select(Overlap::ALL.to_vec());
    (span(), span(), overlap, span(), any::<bool>(), any::<bool>()).prop_map(
        |(delay, jitter, overlap, catch_up, reports, recurring)| Arming {
            delay,
            jitter: jitter.min(JITTER_MAX),
            overlap,
            catch_up,
            reports,
            recurring,
        },
    )
}

impl History {
    pub(super) fn new(job: JobRecord) -> Self {
        let (fires, calls, over) = (Vec::new(), Vec::new(), Vec::new());
        Self { now: start(), job, fires, calls, over, cancelled_at: None }
    }

    pub(super) fn take(&mut self, step: &Step) {
        match step {
            Step::Pass(span) => self.now = later_by(self.now, *span),
            Step::Arm(arming) => self.arm(arming),
            Step::Cancel => self.cancel(),
            Step::Claim => self.claim(),
            Step::End { call, end } => self.end(*call, *end),
            Step::Retry { call, wait, counts } => self.retry(*call, *wait, *counts),
            Step::Report { fire } => self.report(*fire),
        }
        self.note_ends();
    }

    fn open(&self) -> Vec<OpenFire> {
        let open = self.fires.iter().filter(|fire| fire.next_at.is_some());
        open.map(OpenFire::from).collect()
    }

    fn write(&mut self, changed: &[OpenFire]) {
        for change in changed {
            let fire = self.fires.iter_mut().find(|fire| fire.fire.id == change.id).unwrap();
            fire.set_status(change.status);
        }
    }

    fn arm(&mut self, arming: &Arming) {
        let Arming { delay, jitter, overlap, catch_up, reports, recurring } = *arming;
        let policies = Policies { overlap, catch_up, jitter };
        let arm = ArmRequest { recurring, reports, policies, ..request(later_by(self.now, delay)) };
        if let Some(plan) = arm_job(&self.job, &self.open(), &arm, self.now) {
            assert_eq!(plan.takes_quota, self.job.status.next_at.is_none());
            assert_eq!(plan.job.status.arming, self.job.status.arming.next());
            self.write(&plan.superseded);
            self.job = plan.job;
            self.cancelled_at = None;
        }
    }

    fn cancel(&mut self) {
        let was_armed = self.job.status.next_at.is_some();
        let plan = cancel_job(&self.job, &self.open(), self.now);
        self.write(&plan.ended);
        self.job.status = plan.job;
        let want = match (self.open().is_empty(), was_armed || !plan.ended.is_empty()) {
            (false, _) => CancelOutcome::UnderWay,
            (true, true) => CancelOutcome::Cancelled,
            (true, false) => CancelOutcome::Unknown,
        };
        assert_eq!(plan.cancelled, want);
        self.cancelled_at.get_or_insert(self.calls.len());
    }

    fn claim(&mut self) {
        let running_since = self.fires.iter().filter_map(FireRecord::running_since).max();
        for number in 0..self.fires.len() {
            let step = claim_try(&self.fires[number], &self.job, running_since, self.now);
            if let Some(FireStep { job, fire }) = step {
                self.fires[number].set_status(fire);
                self.job.status = job;
                self.note_call(number);
            }
        }
        let Some(step) = claim_instant(&self.job, running_since, self.now) else { return };
        let id = FireId::from_uuid(Uuid::from_u128(self.fires.len() as u128));
        let agent = AgentId::from_uuid(Uuid::from_u128(1));
        let mut fire = self.job.begin_fire(agent, id, self.now);
        fire.set_status(step.fire);
        self.fires.push(fire);
        self.job.status = step.job;
        assert_eq!(
            claim_instant(&self.job, running_since, self.now),
            None,
            "an instant fires once"
        );
        self.note_call(self.fires.len() - 1);
    }

    /// Notes the call that a claim began, if it did.
    fn note_call(&mut self, fire: usize) {
        let record = &self.fires[fire];
        if !record.is_calling {
            return;
        }
        assert!(record.due_at <= self.now, "no call is early");
        assert!(record.due_at >= record.fire.fire_at.instant(), "jitter only delays");
        assert_eq!(record.fire.arming, self.job.status.arming, "no older arming is called");
        self.calls.push(Call { fire, attempt: record.fire.tries, at: self.now });
    }

    /// Returns a call that was made, counted from the newest.
    fn call(&self, back: usize) -> Option<Call> {
        self.calls.iter().rev().nth(back).copied()
    }

    fn end(&mut self, back: usize, end: FireEnd) {
        let Some(call) = self.call(back) else { return };
        let fire = &self.fires[call.fire];
        let (was_open, is_newest) =
            (fire.fire.state == FireState::Open, fire.fire.tries == call.attempt);
        let step = end_fire(fire, &self.job, call.attempt, end, self.now);
        assert_eq!(step.is_some(), was_open && (is_newest || end == FireEnd::Taken));
        if let Some(step) = step {
            self.fires[call.fire].set_status(step.fire);
            self.job.status = step.job;
        }
    }

    fn retry(&mut self, back: usize, wait: Duration, counts: bool) {
        let Some(call) = self.call(back) else { return };
        let retry = Retry { attempt: call.attempt, wait, counts };
        if let Some(status) = retry_fire(&self.fires[call.fire], retry, self.now) {
            assert_eq!(status.tries, call.attempt - u32::from(!counts));
            assert_eq!(status.next_at, Some(later_by(self.now, wait)));
            self.fires[call.fire].set_status(status);
            // The node gave its claim back, so another may call at once.
            self.calls.retain(|other| (other.fire, other.at) != (call.fire, call.at));
            self.cancelled_at = self.cancelled_at.map(|calls| calls.min(self.calls.len()));
        }
    }

    fn report(&mut self, fire: usize) {
        let Some(record) = self.fires.get(fire) else { return };
        match report_run(record, &self.job, self.now) {
            ReportStep::Ignored => return,
            ReportStep::RunEnded => assert!(record.is_taken()),
            ReportStep::TakenAndRunEnded(step) => {
                self.fires[fire].set_status(step.fire);
                self.job.status = step.job;
            }
        }
        self.fires[fire].fire.run = Some((self.now, true, None));
        let release =
            |it: OpenFire| Some(OpenFire { status: release_held(it.status, self.now)?, ..it });
        let released: Vec<_> = self.open().into_iter().filter_map(release).collect();
        self.write(&released);
    }

    fn note_ends(&mut self) {
        for (number, fire) in self.fires.iter().enumerate() {
            let is_new = self.over.iter().all(|(over, _)| *over != number);
            if fire.fire.ended_at.is_some() && is_new {
                self.over.push((number, fire.status()));
            }
        }
    }

    /// Checks the invariants that hold at every time.
    pub(super) fn check(&self) {
        let status = self.job.status;
        assert!(status.next_at.is_none() || !status.is_cancelled, "armed or cancelled");
        assert!(
            status.next_at.is_none() || status.watch_at.is_none(),
            "an armed job is not watched"
        );
        for (number, over) in &self.over {
            assert_eq!(self.fires[*number].status(), *over, "an outcome is final");
        }
        for fire in &self.fires {
            check_columns(fire.status());
        }
        self.check_calls();
        let held = self.fires.iter().filter(|fire| fire.fire.state == FireState::Held);
        assert!(held.count() <= 1, "one fire waits at most");
        if let Some(calls) = self.cancelled_at {
            assert_eq!(self.calls.len(), calls, "a cancelled job is not called");
        }
    }

    /// One node calls at a time, and each try has its own number.
    fn check_calls(&self) {
        for (number, call) in self.calls.iter().enumerate() {
            let mut later_ones = self.calls[number + 1..].iter().filter(|it| it.fire == call.fire);
            if let Some(next) = later_ones.next() {
                assert!(next.at >= later_by(call.at, FIRE_CALL_HELD), "one node calls at a time");
                assert!(next.attempt > call.attempt, "tries are counted");
            }
        }
    }
}

/// The constraints of the table `fires`.
fn check_columns(status: FireStatus) {
    let FireStatus { state, cause, is_calling, next_at, ended_at, .. } = status;
    let is_open = matches!(state, FireState::Open | FireState::Held);
    assert_eq!(is_open, next_at.is_some());
    assert_eq!(is_open, ended_at.is_none());
    assert_eq!(matches!(state, FireState::Skipped | FireState::Missed), cause.is_some());
    assert!(!is_calling || state == FireState::Open);
}

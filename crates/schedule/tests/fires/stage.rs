//! A schedule over the memory store, on a node whose clock is an hour ahead.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::Store as _;
use nightdesk_memory::{Memory, Writers};
use nightdesk_schedule::{
    ArmRequest, FireAt, FireCaller, FireClaim, FireOutcome, InboxDeliverer, InboxDelivery, JobId,
    Policies, ScheduleClocks, Scheduler, StoreTime, Target,
};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{Clock, FireId, Node, Seq, StoreError, Timestamp};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Takes the second call of each fire, and records all calls.
#[derive(Default)]
struct Agents(Mutex<Vec<FireId>>);

#[async_trait]
impl FireCaller for Agents {
    async fn call(&self, fire: &FireClaim, _: &str, _: Timestamp) -> FireOutcome {
        self.0.lock().expect("no panic").push(fire.fire);
        if fire.tries == 1 {
            return FireOutcome::Again("answered with status 503".to_owned(), None);
        }
        FireOutcome::Taken("202 in 1 ms".to_owned())
    }

    fn may_call(&self, callback: &str) -> Result<String, String> {
        Ok(callback.to_owned())
    }
}

#[async_trait]
impl InboxDeliverer for Agents {
    async fn build_delivery(&self, _: &FireClaim, _: &str) -> Result<InboxDelivery, StoreError> {
        Ok(InboxDelivery::Came(FireOutcome::Refused("nothing to say".to_owned())))
    }

    async fn notify_stored(&self, _: &FireClaim, _: Seq) {}
}

struct Time(FakeClock);

#[async_trait]
impl StoreTime for Time {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.0.now())
    }
}

/// Arms a job that is due in ten minutes. Returns the fire ids that its agent got, and the minute of the first call.
pub(crate) async fn told() -> (Vec<FireId>, Option<u32>) {
    let (clock, wall) = (FakeClock::default(), FakeClock::default());
    wall.let_pass(Duration::from_hours(1));
    let store = Arc::new(Memory::new(clock.clone()));
    let Writers { scope, agents: [agent, _], .. } = Writers::of(&store, &[]).await;
    let epoch = store.begin("one", Duration::from_hours(24)).await.expect("a node begins");
    let node = Node { name: "one".to_owned(), epoch };
    let (agents, stop) = (Arc::new(Agents::default()), CancellationToken::new());
    let clocks = ScheduleClocks { store: Arc::new(Time(clock.clone())), wall: Arc::new(wall) };
    let calls = Arc::<Agents>::clone(&agents);
    let schedule = Arc::new(Scheduler::new(store, calls, clocks, node, &TaskTracker::new()));
    let deliver = Arc::<Agents>::clone(&agents);
    tokio::spawn(Arc::clone(&schedule).run(deliver, TaskTracker::new(), stop.clone()));
    let fire_at = clock.now().checked_add(Duration::from_mins(10)).expect("a time");
    let arm = ArmRequest {
        job: JobId::new("job").expect("a name"),
        fire_at: FireAt::from_timestamp(fire_at),
        to: Target::Callback("https://agent.example".to_owned()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    };
    schedule.arm(scope, agent, &arm).await.expect("arm a job");
    let mut first = None;
    for minute in 0..12 {
        // Claims are half a second apart, and tries at most two seconds.
        sleep(Duration::from_secs(5)).await;
        if first.is_none() && !agents.0.lock().expect("no panic").is_empty() {
            first = Some(minute);
        }
        clock.let_pass(Duration::from_mins(1));
    }
    stop.cancel();
    let told = agents.0.lock().expect("no panic").clone();
    (told, first)
}

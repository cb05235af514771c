//! A node that is suspended between its claim and its call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_memory::{Memory, Writers};
use nightdesk_testkit::FakeClock;
use nightdesk_types::TenantId;
use nightdesk_types::limits::{CALL_BEGUN_WITHIN, WAKES_PER_HOUR};
use nightdesk_wake::{CallOutcome, WakeAdmin, WakeUrlCaller, Waker};
use tokio::time;

/// Counts its calls.
#[derive(Default)]
struct Called(AtomicUsize);

#[async_trait]
impl WakeUrlCaller for Called {
    async fn call(&self, _: TenantId, _: &str) -> CallOutcome {
        self.0.fetch_add(1, Ordering::Relaxed);
        CallOutcome::Taken("200 in 1 ms".to_owned())
    }

    fn may_call(&self, url: &str) -> Result<String, String> {
        Ok(url.to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_late_is_put_off_and_made_by_whoever_claims_next() {
    let store = Arc::new(Memory::new(FakeClock::default()));
    let Writers { scope, agents: [agent, _], .. } = Writers::of(&store, &[]).await;
    store.set_wake_urls(scope, agent, &["https://agents.example".to_owned()]).await.expect("set");
    let called = Arc::new(Called::default());
    let wake = Waker::new(store.clone(), called.clone(), None, WAKES_PER_HOUR);
    for (stands_still, want) in [(Duration::from_millis(1), 0), (Duration::ZERO, 1)] {
        store.request_call(scope, agent).await.expect("ask for a call");
        let claimed = wake.claim_agent(scope, agent).await.expect("claim a wake");
        let (claimed, room) = claimed.expect("it is due, and was not called yet");
        time::advance(CALL_BEGUN_WITHIN + stands_still).await;
        let outcome = wake.call(&claimed, &room).await.expect("write down what came of it");
        assert_eq!(matches!(outcome, CallOutcome::Taken(_)), want == 1, "{outcome:?}");
        assert_eq!(called.0.load(Ordering::Relaxed), want);
    }
}

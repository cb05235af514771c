//! A scripted store, agents with scripted responses, and a schedule between them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::FIRE_CALL_HELD;
use nightdesk_types::{
    AgentId, Arming, BotId, Clock, FireId, Moment, Node, NodeEpoch, ScheduleId, Seq, StoreError,
    TenantId, TenantScope, Timestamp,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::super::{ScheduleClocks, Scheduler, StoreTime};
use crate::callback::FireCaller;
use crate::fire::{FireClaim, FireEnd, FireEnding};
use crate::job::{ArmRequest, FireAt, JobId, Policies, Target};
use crate::outcome::{FireOutcome, InboxDeliverer, InboxDelivery};
use crate::store::{ActiveJob, CancelOutcome, ClaimBatch, FireEntry, RunReport, Store, UnarmedJob};

pub(super) const CALLBACK: &str = "https://agent.example.org";

pub(super) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn scope() -> TenantScope {
    TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)))
}

pub(super) fn agent() -> AgentId {
    AgentId::from_uuid(Uuid::from_u128(2))
}

/// One fire in the store, and its end.
pub(super) struct Page {
    fire: FireClaim,
    /// Time of the next claim, counted from the start of the test.
    due: Duration,
    end: Option<(FireEnd, String)>,
}

/// A store of fires that are armed once. Its clock is the test's.
pub(super) struct Book {
    pub(super) opened: Instant,
    pub(super) pages: Mutex<Vec<Page>>,
    pub(super) claims: AtomicUsize,
    /// Duration of the next claim.
    pub(super) slow: Mutex<Duration>,
    /// Number of writes that fail before one succeeds.
    pub(super) lost_notes: AtomicUsize,
}

impl Book {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(self.opened.elapsed()).unwrap()
    }

    fn may_note(&self) -> Result<(), StoreError> {
        let less = |lost: usize| lost.checked_sub(1);
        match self.lost_notes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Err(StoreError::unavailable("note a fire", "lost")),
            Err(_) => Ok(()),
        }
    }

    /// Applies `write` to the page of a try, if it is the newest and the fire is open.
    fn on_page<T>(&self, of: &FireClaim, write: impl FnOnce(&mut Page) -> T) -> Option<T> {
        let mut pages = self.pages.lock().unwrap();
        let mut open = pages.iter_mut().filter(|page| page.end.is_none());
        open.find(|page| page.fire.fire == of.fire && page.fire.tries == of.tries).map(write)
    }

    pub(super) fn ends(&self) -> Vec<Option<(FireEnd, String)>> {
        self.pages.lock().unwrap().iter().map(|page| page.end.clone()).collect()
    }
}

#[async_trait]
impl Store for Book {
    async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &ArmRequest,
    ) -> Result<ActiveJob, StoreError> {
        let mut pages = self.pages.lock().unwrap();
        let number = pages.len() as u128;
        let fire = FireClaim {
            scope,
            agent,
            job: arm.job.clone(),
            fire: FireId::from_uuid(Uuid::from_u128(100 + number)),
            fire_at: arm.fire_at.clone(),
            to: arm.to.clone(),
            tries: 0,
            outcome: None,
        };
        let due = arm.fire_at.instant().duration_since(Timestamp::UNIX_EPOCH);
        pages.push(Page { fire, due: due.try_into().unwrap(), end: None });
        let id = ScheduleId::from_uuid(Uuid::from_u128(number));
        Ok(ActiveJob { id, arming: Arming::new(1), arm: arm.clone() })
    }

    async fn claim(&self, _: &Node, at_most: usize) -> Result<ClaimBatch, StoreError> {
        self.claims.fetch_add(1, Ordering::Relaxed);
        let now = self.opened.elapsed();
        let mut claims = ClaimBatch::default();
        {
            let mut pages = self.pages.lock().unwrap();
            let open = pages.iter_mut().filter(|page| page.end.is_none());
            for page in open {
                if page.due <= now && claims.fires.len() < at_most {
                    page.fire.tries += 1;
                    page.due = now + FIRE_CALL_HELD;
                    claims.fires.push(page.fire.clone());
                }
                let next_in = page.due.saturating_sub(now);
                claims.next_in = Some(claims.next_in.map_or(next_in, |so_far| so_far.min(next_in)));
            }
        }
        let slow = std::mem::take(&mut *self.slow.lock().unwrap());
        sleep(slow).await;
        Ok(claims)
    }

    async fn end(&self, endings: &[FireEnding]) -> Result<Vec<bool>, StoreError> {
        self.may_note()?;
        let end = |FireEnding { claimed, end, outcome }: &FireEnding| {
            self.on_page(claimed, |page| page.end = Some((*end, outcome.clone()))).is_some()
        };
        Ok(endings.iter().map(end).collect())
    }

    async fn put(
        &self,
        fire: &FireClaim,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError> {
        assert_eq!(entry.body, b"water the plants");
        let (claimed, outcome) = (fire.clone(), outcome.to_owned());
        let put = self.end(&[FireEnding { claimed, end: FireEnd::Taken, outcome }]).await?;
        Ok(put.contains(&true).then_some(Seq::new(7)))
    }

    async fn record_retry(
        &self,
        fire: &FireClaim,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError> {
        self.may_note()?;
        let now = self.opened.elapsed();
        let noted = self.on_page(fire, |page| {
            page.fire.outcome = Some(outcome.to_owned());
            page.fire.tries -= u32::from(!counts);
            page.due = now + wait;
        });
        Ok(noted.is_some())
    }

    async fn cancel(
        &self,
        _: TenantScope,
        _: AgentId,
        _: &JobId,
    ) -> Result<CancelOutcome, StoreError> {
        Ok(CancelOutcome::Unknown)
    }

    async fn armed_jobs(&self, _: TenantScope, _: AgentId) -> Result<Vec<ActiveJob>, StoreError> {
        Ok(Vec::new())
    }

    async fn report(
        &self,
        _: TenantScope,
        _: AgentId,
        _: FireId,
        _: &RunReport,
    ) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn flag_unarmed(&self) -> Result<Vec<UnarmedJob>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl StoreTime for Book {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(Self::now(self))
    }
}

/// A node's clock that is ahead by this duration.
pub(super) struct Wrong(Arc<Book>, Duration);

impl Clock for Wrong {
    fn now(&self) -> Timestamp {
        self.0.now().checked_add(self.1).unwrap()
    }

    fn moment(&self) -> Moment {
        Moment::after_start(self.0.opened.elapsed())
    }
}

/// Agents that return scripted responses and record their calls.
pub(super) struct Agents {
    pub(super) opened: Instant,
    pub(super) answers: Mutex<VecDeque<FireOutcome>>,
    pub(super) heard: Mutex<Vec<(Duration, FireClaim, Timestamp)>>,
    /// Duration of a call.
    pub(super) slow: Duration,
    pub(super) at_once: AtomicUsize,
    pub(super) at_once_most: AtomicUsize,
}

#[async_trait]
impl FireCaller for Agents {
    async fn call(&self, fire: &FireClaim, callback: &str, now: Timestamp) -> FireOutcome {
        assert_eq!(callback, CALLBACK);
        let heard = (self.opened.elapsed(), fire.clone(), now);
        self.heard.lock().unwrap().push(heard);
        let at_once = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
        self.at_once_most.fetch_max(at_once, Ordering::Relaxed);
        sleep(self.slow).await;
        self.at_once.fetch_sub(1, Ordering::Relaxed);
        let answer = self.answers.lock().unwrap().pop_front();
        answer.unwrap_or_else(|| FireOutcome::Taken("202 in 1 ms".to_owned()))
    }

    fn may_call(&self, callback: &str) -> Result<String, String> {
        if callback.starts_with("https://") {
            Ok(callback.trim_end_matches('/').to_owned())
        } else {
            Err("only https is called".to_owned())
        }
    }
}

#[async_trait]
impl InboxDeliverer for Agents {
    async fn build_delivery(
        &self,
        _: &FireClaim,
        words: &str,
    ) -> Result<InboxDelivery, StoreError> {
        let (bot, chat_id) = (BotId::from_uuid(Uuid::nil()), "cron:job".to_owned());
        if words.is_empty() {
            return Ok(InboxDelivery::Came(FireOutcome::Refused("nothing to say".to_owned())));
        }
        Ok(InboxDelivery::Put(FireEntry { bot, chat_id, body: words.into() }))
    }

    async fn notify_stored(&self, fire: &FireClaim, seq: Seq) {
        assert_eq!(seq, Seq::new(7));
        let heard = (self.opened.elapsed(), fire.clone(), Timestamp::UNIX_EPOCH);
        self.heard.lock().unwrap().push(heard);
    }
}

/// A running schedule with its store and agents.
pub(super) struct Stage {
    pub(super) book: Arc<Book>,
    pub(super) agents: Arc<Agents>,
    pub(super) schedule: Arc<Scheduler>,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
}

impl Stage {
    pub(super) fn with(answers: &[FireOutcome]) -> Self {
        Self::set(answers, Duration::ZERO, Duration::ZERO)
    }

    /// Starts a schedule with these responses, a duration of calls, and a node clock that is ahead.
    pub(super) fn set(answers: &[FireOutcome], slow: Duration, ahead: Duration) -> Self {
        let opened = Instant::now();
        let book = Arc::new(Book {
            opened,
            pages: Mutex::default(),
            claims: AtomicUsize::new(0),
            slow: Mutex::default(),
            lost_notes: AtomicUsize::new(0),
        });
        let agents = Arc::new(Agents {
            opened,
            answers: Mutex::new(answers.to_vec().into()),
            heard: Mutex::default(),
            slow,
            at_once: AtomicUsize::new(0),
            at_once_most: AtomicUsize::new(0),
        });
        let wall = Arc::new(Wrong(Arc::clone(&book), ahead));
        let clocks = ScheduleClocks { store: Arc::<Book>::clone(&book), wall };
        let node = Node { name: "one".to_owned(), epoch: NodeEpoch::new(1) };
        let (store, calls) = (Arc::<Book>::clone(&book), Arc::<Agents>::clone(&agents));
        let schedule = Arc::new(Scheduler::new(store, calls, clocks, node, &TaskTracker::new()));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let deliver = Arc::<Agents>::clone(&agents);
        tokio::spawn(Arc::clone(&schedule).run(deliver, tasks.clone(), stop.clone()));
        Self { book, agents, schedule, tasks, stop }
    }

    pub(super) async fn arm(&self, at: Duration, to: Target) {
        let arm = ArmRequest {
            job: JobId::new("job").unwrap(),
            fire_at: FireAt::from_timestamp(Timestamp::UNIX_EPOCH.checked_add(at).unwrap()),
            to,
            recurring: false,
            reports: false,
            policies: Policies::default(),
        };
        self.schedule.arm(scope(), agent(), &arm).await.unwrap();
    }

    pub(super) async fn arm_at(&self, at: Duration) {
        self.arm(at, Target::Callback(CALLBACK.to_owned())).await;
    }

    /// Returns the time of each call in milliseconds, and the id of its fire.
    pub(super) fn heard(&self) -> Vec<(u128, u128)> {
        let heard = self.agents.heard.lock().unwrap();
        heard.iter().map(|(at, fire, _)| (at.as_millis(), fire.fire.uuid().as_u128())).collect()
    }
}

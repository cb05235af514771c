//! The alerts of a test desk: their chats are real, and their mails and posts are recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_alerts::{AlertFailure, AlertKind, AlertMessage, AlertSender, AlertWay, WayKind};
use nightdesk_desk::alerting::ChatAlerts;
use nightdesk_desk::{AlertSenders, Alerting, Desk};
use nightdesk_lease::{Lease, Owners};
use nightdesk_memory::Memory;
use nightdesk_types::SystemClock;

use crate::{LONG, TestDesk, node};

/// Records posts and mails about alerts.
#[derive(Debug, Default)]
pub struct TestAlerts {
    sent: Mutex<Vec<AlertMessage>>,
    fails: AtomicBool,
}

impl TestAlerts {
    /// Returns the messages so far, and forgets them.
    pub fn take(&self) -> Vec<AlertMessage> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fails every message, until it is called with `false`.
    pub fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }
}

#[async_trait]
impl AlertSender for TestAlerts {
    async fn send(&self, _way: &AlertWay, message: &AlertMessage) -> Result<(), AlertFailure> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(AlertFailure("the test refuses it".to_owned()));
        }
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(message.clone());
        Ok(())
    }
}

impl TestDesk {
    /// Looks for the causes of alerts once, and sends the messages.
    pub async fn sweep_alerts(&self) {
        for kinds in [AlertKind::QUICK, AlertKind::SLOW] {
            self.alerting.sweep(kinds).await.expect("look for causes");
        }
        self.alerting.deliver().await.expect("send messages");
        self.settled().await;
    }
}

/// Returns the flow of alerts of a test desk, and the record of its messages. A test makes each sweep.
pub(crate) fn open(store: &Memory, desk: &Desk) -> (Arc<TestAlerts>, Arc<Alerting>) {
    let sent = Arc::<TestAlerts>::default();
    let mut senders = AlertSenders::new();
    for kind in [WayKind::Webhook, WayKind::Mail] {
        senders.insert(kind, Arc::<TestAlerts>::clone(&sent));
    }
    senders.insert(WayKind::Chat, Arc::new(ChatAlerts::new(&desk.stops)));
    let lease = Lease::new(node(), Box::new(SystemClock::start()), LONG);
    let owners = Owners::new(Arc::new(lease), Arc::new(store.clone()));
    let tasks = desk.stops.tasks.clone();
    let alerting = Alerting::new(Arc::new(store.clone()), owners, senders, tasks);
    (sent, Arc::new(alerting))
}

//! The custody and the platform that the office of a test desk uses.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_desk::posting::WebhookKey;
use nightdesk_desk::{Alerting, Desk};
use nightdesk_memory::Memory;
use nightdesk_office::{
    DataCustody, DeskQuestionKey, DoctorFinding, DoctorMode, NodeExaminer, Office, OfficeError,
    OfficeParts, PlatformAccount, PlatformFindings, PlatformSetup, UpdateDelivery,
};
use nightdesk_outside::Rules;
use nightdesk_port::Bot;
use nightdesk_types::{Incarnation, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};

/// The token of an account on the test platform. It accepts no other.
pub const ACCOUNT_TOKEN: &str = "the token of an account";

/// Records the operations on keys and on the database. It does nothing else.
#[derive(Debug, Default)]
pub struct TestCustody(Mutex<Vec<String>>);

impl TestCustody {
    /// Returns the operations, oldest first.
    pub fn operations(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record(&self, operation: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(operation);
    }
}

#[async_trait]
impl DataCustody for TestCustody {
    async fn rotate_keys(&self, scope: TenantScope) -> Result<u64, OfficeError> {
        self.record(format!("rotate {}", scope.tenant()));
        Ok(1)
    }

    async fn list_erasure(&self, tenant: TenantId) -> Result<(), OfficeError> {
        self.record(format!("list {tenant}"));
        Ok(())
    }

    async fn erase_tenant(&self, scope: TenantScope) -> Result<u64, OfficeError> {
        self.record(format!("erase {}", scope.tenant()));
        Ok(2)
    }

    async fn begin_history(
        &self,
        by: TenantScope,
        reason: &str,
    ) -> Result<Incarnation, OfficeError> {
        self.record(format!("begin a history by {}: {reason}", by.actor()));
        Ok(Incarnation::new(7))
    }
}

/// The scripted platform, as the operator of a bot sets it up.
#[derive(Debug, Default)]
struct TestSetup {
    /// The address to which it posts.
    hook: Mutex<Option<String>>,
}

impl TestSetup {
    fn set_hook(&self, hook: Option<&str>) {
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = hook.map(str::to_owned);
    }
}

#[async_trait]
impl PlatformSetup for TestSetup {
    async fn find_account(
        &self,
        token: &Key,
        _updates: UpdateDelivery,
    ) -> Result<PlatformAccount, OfficeError> {
        if !token.with(|token| token == ACCOUNT_TOKEN) {
            return Err(OfficeError::Invalid("the platform rejects this token".to_owned()));
        }
        let settings = json!({ "deliver_url": "http://127.0.0.1:9/nobody" });
        Ok(PlatformAccount { handle: "connected".to_owned(), settings })
    }

    async fn connect(&self, bot: &Bot, hook: &str) -> Result<Value, OfficeError> {
        self.direct_updates(bot, hook).await?;
        Ok(json!({ "updates": hook }))
    }

    async fn direct_updates(&self, _bot: &Bot, hook: &str) -> Result<(), OfficeError> {
        self.set_hook(Some(hook));
        Ok(())
    }

    async fn end_updates(&self, _bot: &Bot) -> Option<String> {
        self.set_hook(None);
        Some("the webhook was removed".to_owned())
    }

    async fn check_bot(&self, _bot: &Bot, hook: &str) -> PlatformFindings {
        let current = self.hook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_elsewhere = current.as_deref() != Some(hook);
        let fault = is_elsewhere.then(|| "the platform posts elsewhere".to_owned());
        PlatformFindings { says: json!({ "hook": current }), wrong: fault.into_iter().collect() }
    }
}

/// Finds one fault of the node, which a repair ends.
#[derive(Debug)]
struct TestExaminer;

#[async_trait]
impl NodeExaminer for TestExaminer {
    fn node(&self) -> String {
        "test".to_owned()
    }

    async fn examine_node(&self, mode: DoctorMode) -> Vec<DoctorFinding> {
        let fault = DoctorFinding::fault("retention", "tomorrow has no partition", "create it");
        vec![match mode {
            DoctorMode::Examine => fault,
            DoctorMode::Repair => fault.repaired(),
        }]
    }
}

/// The key of the questions of every test desk.
pub fn question_key() -> DeskQuestionKey {
    DeskQuestionKey::new(&[9; 32])
}

/// Opens the office of a test desk.
pub(crate) fn open(
    desk: &Arc<Desk>,
    store: &Memory,
    custody: &Arc<TestCustody>,
    alerting: &Arc<Alerting>,
) -> Arc<Office> {
    let setup: Arc<dyn PlatformSetup> = Arc::new(TestSetup::default());
    let parts = OfficeParts {
        store: Arc::new(store.clone()),
        custody: Arc::<TestCustody>::clone(custody),
        setups: [("scripted".to_owned(), setup)].into(),
        url_rules: Rules::default(),
        webhook_key: WebhookKey::new(&[7; 32]),
        examiner: Arc::new(TestExaminer),
        question_key: question_key(),
        alerting: Arc::clone(alerting),
    };
    Arc::new(Office::new(Arc::clone(desk), parts))
}

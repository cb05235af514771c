//! Wakes agents with a call to a URL that the tenant set.

use async_trait::async_trait;
use nightdesk_outside::{CallError, Method, Outside, OutsideCall, TenantUrl};
use nightdesk_types::TenantId;

use crate::CallOutcome;

/// Calls a URL for a tenant, once.
#[async_trait]
pub trait WakeUrlCaller: Send + Sync {
    /// Calls the URL and returns the outcome.
    async fn call(&self, tenant: TenantId, url: &str) -> CallOutcome;

    /// Returns the URL in the form in which it is called, or the reason for a refusal. Makes no call.
    fn may_call(&self, url: &str) -> Result<String, String>;
}

/// An unsigned GET without a body. It shows only that an entry waits, so a wrong recipient learns nothing else.
#[async_trait]
impl WakeUrlCaller for Outside {
    async fn call(&self, tenant: TenantId, url: &str) -> CallOutcome {
        let url = match TenantUrl::parse(url, self.rules()) {
            Ok(url) => url,
            Err(refused) => return CallOutcome::Failed(refused.to_string()),
        };
        let call = OutsideCall {
            url: &url,
            method: Method::Get,
            bearer: None,
            signature: None,
            body: None,
        };
        match Self::call(self, tenant, call).await {
            Ok(reply) if reply.status < 400 => {
                CallOutcome::Taken(format!("{} in {} ms", reply.status, reply.took.as_millis()))
            }
            Ok(reply) => CallOutcome::Failed(format!("answered with status {}", reply.status)),
            Err(CallError::Busy { retry_after }) => CallOutcome::PutOff(retry_after),
            Err(error) => CallOutcome::Failed(error.to_string()),
        }
    }

    fn may_call(&self, url: &str) -> Result<String, String> {
        let url = TenantUrl::parse(url, self.rules()).map_err(|refused| refused.to_string())?;
        Ok(url.as_str().to_owned())
    }
}

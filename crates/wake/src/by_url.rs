//! Wakes agents with a call to a URL that the tenant set.

use async_trait::async_trait;
use nightdesk_outside::{Call, CallError, Method, Outside, TenantUrl};
use nightdesk_types::TenantId;

use crate::Outcome;

/// Calls a URL for a tenant, once.
#[async_trait]
pub trait ByUrl: Send + Sync {
    /// Calls the URL and returns the outcome.
    async fn call(&self, tenant: TenantId, url: &str) -> Outcome;

    /// Returns the URL in the form in which it is called, or the reason for a refusal. Makes no call.
    fn may_call(&self, url: &str) -> Result<String, String>;
}

/// An unsigned GET without a body. It shows only that an entry waits, so a wrong recipient learns nothing else.
#[async_trait]
impl ByUrl for Outside {
    async fn call(&self, tenant: TenantId, url: &str) -> Outcome {
        let url = match TenantUrl::parse(url, self.rules()) {
            Ok(url) => url,
            Err(refused) => return Outcome::Failed(refused.to_string()),
        };
        let call =
            Call { url: &url, method: Method::Get, bearer: None, signature: None, body: None };
        match Self::call(self, tenant, call).await {
            Ok(reply) if reply.status < 400 => {
                Outcome::Taken(format!("{} in {} ms", reply.status, reply.took.as_millis()))
            }
            Ok(reply) => Outcome::Failed(format!("answered with status {}", reply.status)),
            Err(CallError::Busy { retry_after }) => Outcome::PutOff(retry_after),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }

    fn may_call(&self, url: &str) -> Result<String, String> {
        let url = TenantUrl::parse(url, self.rules()).map_err(|refused| refused.to_string())?;
        Ok(url.as_str().to_owned())
    }
}

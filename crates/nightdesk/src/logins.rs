//! Builds the login providers, and makes the calls to them.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nightdesk_outside::{CallResponse, FormPost, Outside, TenantUrl};
use nightdesk_users::oidc::{
    LoginKey, LoginProvider, Logins, ProviderCallError, ProviderCalls, TokenRequest,
};
use secrecy::SecretString;
use tokio_util::task::TaskTracker;

use crate::config::{Config, provider_settings};
use crate::issuers::key_fetcher;

/// Returns the configured providers. The key of logins is a secret that all nodes share.
pub(crate) fn open_logins(
    config: &Config,
    secret: &[u8; 32],
    outside: &Outside,
    tasks: &TaskTracker,
) -> anyhow::Result<Logins> {
    let calls: Arc<dyn ProviderCalls> = Arc::new(GuardedCalls(outside.clone()));
    let fetch = key_fetcher(outside.clone());
    let settings = provider_settings(&config.logins, &config.public_url())?;
    let providers = settings.into_iter().map(|settings| {
        LoginProvider::new(settings, Arc::clone(&calls), Arc::clone(&fetch), tasks.clone())
    });
    Ok(Logins::new(LoginKey::new(secret), providers.collect()))
}

/// Calls providers through the guarded client.
struct GuardedCalls(Outside);

impl GuardedCalls {
    fn url(&self, url: &str) -> Result<TenantUrl, ProviderCallError> {
        TenantUrl::parse(url, self.0.rules()).map_err(|refusal| failed(url, &refusal))
    }
}

fn failed(url: &str, error: &dyn std::error::Error) -> ProviderCallError {
    ProviderCallError(format!("{url}: {error}"))
}

#[async_trait]
impl ProviderCalls for GuardedCalls {
    async fn get(&self, url: &str) -> Result<Vec<u8>, ProviderCallError> {
        let got = self.0.get_document(&self.url(url)?).await;
        let CallResponse { status, body, .. } = got.map_err(|error| failed(url, &error))?;
        if status == 200 {
            return Ok(body.to_vec());
        }
        Err(ProviderCallError(format!("{url}: the response has status {status}")))
    }

    async fn exchange(
        &self,
        url: &str,
        request: TokenRequest,
    ) -> Result<(u16, Vec<u8>), ProviderCallError> {
        let TokenRequest { form, basic } = request;
        let authorization = basic.map(|pair| {
            SecretString::from(pair.with(|pair| format!("Basic {}", STANDARD.encode(pair))))
        });
        let target = self.url(url)?;
        let post = FormPost { url: &target, form, authorization: authorization.as_ref() };
        let posted = self.0.post_form(post).await.map_err(|error| failed(url, &error))?;
        Ok((posted.status, posted.body.to_vec()))
    }
}

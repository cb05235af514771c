//! A provider of logins, and the exchange of a code for an ID token.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_register::RegisterError;
use nightdesk_register::issuers::{FetchKeys, IdTokenClaims, IdTokenVerifier, KeySource};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::PROVIDER_FRESH_FOR;
use nightdesk_vault::Key;
use serde::Deserialize;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use url::Url;

use super::attempt::{LoginAttempt, LoginKey};
use super::role_rules::{RoleRules, RuleRole};

#[cfg(test)]
mod tests;

/// The operator's configuration of a provider.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Its name in the desk's addresses.
    pub name: String,
    /// Its name on the login page.
    pub label: String,
    /// Its issuer, compared exactly.
    pub issuer: String,
    /// The desk's id at the provider.
    pub client_id: String,
    /// The desk's secret at the provider. `None`: the desk is a public client.
    pub client_secret: Option<Key>,
    /// Further scopes besides `openid`.
    pub scopes: Vec<String>,
    /// The roles that its claims give.
    pub roles: RoleRules,
    /// The address to which it sends browsers back.
    pub redirect_url: String,
}

/// A call to a provider failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ProviderCallError(pub String);

/// The exchange of a code, as a form.
#[derive(Debug)]
pub struct TokenRequest {
    /// The body, as `application/x-www-form-urlencoded`.
    pub form: String,
    /// The user and password of HTTP Basic, joined by a colon.
    pub basic: Option<Key>,
}

/// Makes calls to providers, through the guarded client and within its bounds.
#[async_trait]
pub trait ProviderCalls: Send + Sync {
    /// Gets a JSON document.
    async fn get(&self, url: &str) -> Result<Vec<u8>, ProviderCallError>;

    /// Posts to the token endpoint. Returns the status and the body.
    async fn exchange(
        &self,
        url: &str,
        request: TokenRequest,
    ) -> Result<(u16, Vec<u8>), ProviderCallError>;
}

/// The reason that a login failed. The text is for the person at the browser.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The provider cannot be reached or does not conform.
    #[error(
        "the login provider did not answer as it should; try again, or tell the operator of the desk"
    )]
    Provider(#[source] ProviderCallError),
    /// The provider refused the code, or its token is not accepted.
    #[error("the login could not be completed; begin again")]
    Refused,
    /// The keys of the provider cannot be read.
    #[error("the keys of the login provider cannot be read; try again in a minute")]
    Keys(#[source] RegisterError),
}

/// The parts of a provider's description that a login needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct ProviderDescription {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
}

/// A described provider: its addresses, and the verifier of its tokens.
struct ReadDescription {
    description: ProviderDescription,
    verifier: IdTokenVerifier,
    read_at: Instant,
}

/// A provider of logins.
pub struct LoginProvider {
    settings: ProviderSettings,
    calls: Arc<dyn ProviderCalls>,
    fetch: Arc<dyn FetchKeys>,
    tasks: TaskTracker,
    described: Mutex<Option<Arc<ReadDescription>>>,
}

impl std::fmt::Debug for LoginProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LoginProvider({})", self.settings.name)
    }
}

/// A user as the provider describes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenLogin {
    /// The provider's issuer.
    pub issuer: String,
    /// The provider's id of the user.
    pub subject: String,
    /// The user's name.
    pub name: String,
    /// The email address, if the provider verified it.
    pub email: Option<String>,
    /// The roles that the claims give.
    pub roles: Vec<RuleRole>,
}

impl LoginProvider {
    /// Creates a provider. Its description is read at the first login.
    pub fn new(
        settings: ProviderSettings,
        calls: Arc<dyn ProviderCalls>,
        fetch: Arc<dyn FetchKeys>,
        tasks: TaskTracker,
    ) -> Self {
        Self { settings, calls, fetch, tasks, described: Mutex::default() }
    }

    /// Returns its name in the desk's addresses.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Returns its name on the login page.
    pub fn label(&self) -> &str {
        &self.settings.label
    }

    /// Returns true if an answer that names this issuer, or none, may be of the provider (RFC 9207).
    pub fn is_issuer(&self, named: Option<&str>) -> bool {
        named.is_none_or(|named| named == self.settings.issuer)
    }

    /// Returns the address to which a login redirects the browser.
    pub async fn authorization_url(
        &self,
        attempt: &LoginAttempt,
        key: &LoginKey,
    ) -> Result<String, LoginError> {
        let described = self.described().await?;
        let endpoint = &described.description.authorization_endpoint;
        let mut url = Url::parse(endpoint).map_err(|error| nonconforming(&error))?;
        let ProviderSettings { client_id, redirect_url, .. } = &self.settings;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("redirect_uri", redirect_url)
            .append_pair("scope", &self.scope())
            .append_pair("state", &attempt.state(key))
            .append_pair("nonce", &attempt.nonce(key))
            .append_pair("code_challenge", &attempt.challenge(key))
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// Exchanges the code of a callback, and returns the proven user.
    pub async fn finish(
        &self,
        attempt: &LoginAttempt,
        key: &LoginKey,
        code: &str,
        now: Timestamp,
    ) -> Result<ProvenLogin, LoginError> {
        #[derive(Deserialize)]
        struct TokenResponse {
            id_token: String,
        }
        let described = self.described().await?;
        let request = self.token_request(code, &attempt.verifier(key));
        let exchanged = self.calls.exchange(&described.description.token_endpoint, request).await;
        let (status, body) = exchanged.map_err(LoginError::Provider)?;
        match status {
            200 => {}
            400..=499 => return Err(LoginError::Refused),
            _ => return Err(failed_exchange(status)),
        }
        let token: TokenResponse =
            serde_json::from_slice(&body).map_err(|error| nonconforming(&error))?;
        let verified = described.verifier.verify(&token.id_token, &attempt.nonce(key), now).await;
        let claims = verified.map_err(LoginError::Keys)?.ok_or(LoginError::Refused)?;
        Ok(self.proven(&claims))
    }

    fn proven(&self, claims: &IdTokenClaims) -> ProvenLogin {
        let email = claims.verified_email();
        let named = ["name", "preferred_username"].into_iter().find_map(|claim| claims.text(claim));
        ProvenLogin {
            issuer: self.settings.issuer.clone(),
            subject: claims.subject.clone(),
            name: named.or(email).unwrap_or(&claims.subject).to_owned(),
            email: email.map(str::to_lowercase),
            roles: self.settings.roles.roles(claims),
        }
    }

    fn scope(&self) -> String {
        let more = self.settings.scopes.iter().map(String::as_str);
        let all: BTreeSet<&str> = more.chain(["openid"]).collect();
        all.into_iter().collect::<Vec<_>>().join(" ")
    }

    fn token_request(&self, code: &str, verifier: &str) -> TokenRequest {
        let ProviderSettings { client_id, client_secret, redirect_url, .. } = &self.settings;
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", redirect_url)
            .append_pair("code_verifier", verifier);
        if client_secret.is_none() {
            form.append_pair("client_id", client_id);
        }
        // RFC 6749, section 2.3.1: both parts are encoded as in a form before they are joined.
        let encoded =
            |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = client_secret.as_ref().map(|secret| {
            Key::new(secret.with(|text| format!("{}:{}", encoded(client_id), encoded(text))))
        });
        TokenRequest { form: form.finish(), basic }
    }

    /// Returns the description, read again now and then.
    async fn described(&self) -> Result<Arc<ReadDescription>, LoginError> {
        let known = self.described.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| known.read_at.elapsed() < PROVIDER_FRESH_FOR) {
            return Ok(known);
        }
        let described = Arc::new(self.describe().await?);
        *self.described.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Arc::clone(&described));
        Ok(described)
    }

    async fn describe(&self) -> Result<ReadDescription, LoginError> {
        let issuer = &self.settings.issuer;
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let body = self.calls.get(&url).await.map_err(LoginError::Provider)?;
        let description: ProviderDescription =
            serde_json::from_slice(&body).map_err(|error| nonconforming(&error))?;
        if description.issuer != *issuer {
            let text = format!("{url} describes the issuer {}", description.issuer);
            return Err(LoginError::Provider(ProviderCallError(text)));
        }
        let verifier = IdTokenVerifier::new(
            issuer.clone(),
            self.settings.client_id.clone(),
            KeySource::Url(description.jwks_uri.clone()),
            Arc::clone(&self.fetch),
            self.tasks.clone(),
        );
        Ok(ReadDescription { description, verifier, read_at: Instant::now() })
    }
}

fn failed_exchange(status: u16) -> LoginError {
    LoginError::Provider(ProviderCallError(format!("the token endpoint has status {status}")))
}

fn nonconforming(error: &dyn std::error::Error) -> LoginError {
    LoginError::Provider(ProviderCallError(error.to_string()))
}

//! Posts entries to the URLs of agents that keep no line open.
//!
//! A wake of such an agent opens its line on the node that claimed it. The line's session decides which entries go out;
//! [`WebhookPoster`] makes one request for each, signed as Standard Webhooks define.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_line::{AgentPost, AgentPoster, PostAnswer, PostOutcome, PostedLines};
use nightdesk_outside::{CallError, CallResponse, Outside, TenantUrl, WebhookPost};
use nightdesk_types::limits::{OUTSIDE_NO_ROOM_WAIT, TURN_MAX};
use nightdesk_types::{AgentId, Clock, TenantScope};
use nightdesk_wake::{AgentWebhook, WakeAdmin, WebhookCall};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::LineBackend;

/// The status of a response whose agent acknowledges the entry later.
const ACCEPTED: u16 = 202;

/// Bytes of a salt.
const SALT_BYTES: usize = 18;

/// Opens the lines of agents whose wakes were claimed, until the node stops.
pub async fn open_lines(
    mut calls: mpsc::Receiver<WebhookCall>,
    line: Arc<LineBackend>,
    posted: Arc<PostedLines>,
    drain: CancellationToken,
) {
    while let Some(Some(call)) = drain.run_until_cancelled(calls.recv()).await {
        open_line(call, &line, &posted).await;
    }
}

async fn open_line(call: WebhookCall, line: &LineBackend, posted: &PostedLines) {
    let WebhookCall { scope, agent } = call;
    match line.gateway_of(scope, agent).await {
        Ok(Some(gateway)) => posted.open(gateway),
        Ok(None) => log_unopened(agent, "it has no gateway"),
        // The wake stays due.
        Err(error) => log_unopened(agent, &error.to_string()),
    }
}

fn log_unopened(agent: AgentId, reason: &str) {
    tracing::warn!(agent.id = %agent, "the line of agent {agent} could not be opened: {reason}");
}

/// The key from which the secrets of all webhooks are derived.
#[derive(Clone)]
pub struct WebhookKey(hmac::Key);

nightdesk_types::opaque_debug!(WebhookKey);

impl WebhookKey {
    /// Creates the key from a secret that all nodes share.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns the secret of an agent's webhook.
    pub fn secret(&self, scope: TenantScope, agent: AgentId, salt: &str) -> WebhookSecret {
        self.derive(&format!("{}/{agent}/{salt}", scope.tenant()))
    }

    /// Returns the secret of a webhook for alerts.
    pub fn alert_secret(&self, scope: TenantScope, salt: &str) -> WebhookSecret {
        self.derive(&format!("{}/alerts/{salt}", scope.tenant()))
    }

    fn derive(&self, text: &str) -> WebhookSecret {
        let tag = hmac::sign(&self.0, text.as_bytes());
        WebhookSecret(tag.as_ref().to_vec())
    }
}

/// Returns a new salt for an agent's secret.
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a known salt would be a known secret"
)]
pub fn random_salt() -> String {
    let mut bytes = [0; SALT_BYTES];
    rand::fill(&mut bytes).expect("the system gives random bytes");
    STANDARD.encode(bytes)
}

/// The secret that signs the posts to a URL.
pub struct WebhookSecret(Vec<u8>);

nightdesk_types::opaque_debug!(WebhookSecret);

impl fmt::Display for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "whsec_{}", STANDARD.encode(&self.0))
    }
}

impl WebhookSecret {
    /// Signs a post.
    pub(crate) fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

/// Posts entries through the guarded client.
pub struct WebhookPoster {
    outside: Outside,
    webhooks: Arc<dyn WakeAdmin>,
    key: WebhookKey,
    clock: Arc<dyn Clock>,
}

nightdesk_types::opaque_debug!(WebhookPoster);

impl WebhookPoster {
    /// Creates the poster.
    pub fn new(
        outside: Outside,
        webhooks: Arc<dyn WakeAdmin>,
        key: WebhookKey,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { outside, webhooks, key, clock }
    }

    /// Makes the request, as soon as the rate limits allow it.
    async fn call(
        &self,
        post: &AgentPost,
        webhook: &AgentWebhook,
    ) -> Result<CallResponse, CallError> {
        let AgentPost { scope, agent, id, body, withdrawn } = post;
        let url = TenantUrl::parse(&webhook.url, self.outside.rules())?;
        let give_up_at = Instant::now() + TURN_MAX;
        loop {
            let timestamp = self.clock.now().as_second();
            let secrets = webhook.salts.iter().map(|salt| self.key.secret(*scope, *agent, salt));
            let signatures: Vec<_> =
                secrets.map(|secret| secret.sign(id, timestamp, body)).collect();
            let request = WebhookPost {
                url: &url,
                id,
                timestamp,
                signatures: &signatures.join(" "),
                body: body.clone().into(),
                withdrawn,
            };
            match self.outside.post(scope.tenant(), request).await {
                Err(CallError::Busy { retry_after }) if Instant::now() < give_up_at => {
                    sleep(retry_after.max(OUTSIDE_NO_ROOM_WAIT)).await;
                }
                called => return called,
            }
        }
    }
}

#[async_trait]
impl AgentPoster for WebhookPoster {
    async fn post(&self, post: AgentPost) -> PostOutcome {
        let webhook = match self.webhooks.webhook(post.scope, post.agent).await {
            Ok(Some(webhook)) => webhook,
            Ok(None) => {
                return PostOutcome::Unreachable("the agent has no webhook any more".into());
            }
            Err(error) => return PostOutcome::Unreachable(error.to_string()),
        };
        match self.call(&post, &webhook).await {
            Ok(response) => read_response(&response),
            Err(
                error @ (CallError::Refused(_)
                | CallError::Busy { .. }
                | CallError::Unreachable(_)
                | CallError::Tls(_)
                | CallError::Withdrawn),
            ) => PostOutcome::Unreachable(error.to_string()),
            Err(
                error @ (CallError::BrokeOff(_)
                | CallError::TimedOut
                | CallError::TooLong(_)
                | CallError::Redirected(_)),
            ) => PostOutcome::Failed(error.to_string()),
        }
    }
}

/// Decides what a response means. An answer that cannot be read is an error of the agent, which its owner must see.
pub fn read_response(response: &CallResponse) -> PostOutcome {
    let CallResponse { status, body, is_json, .. } = response;
    if *status == ACCEPTED {
        return PostOutcome::Later;
    }
    if !(200..300).contains(status) {
        return PostOutcome::Failed(format!("answered with status {status}"));
    }
    // A server may name a type although it sends nothing.
    if !is_json || body.is_empty() {
        let text = Some(String::from_utf8_lossy(body).into_owned());
        return PostOutcome::Handled(PostAnswer { text, ..PostAnswer::default() });
    }
    serde_json::from_slice(body).map_or_else(
        |_| PostOutcome::Failed("answered with JSON that has no text and no actions".to_owned()),
        PostOutcome::Handled,
    )
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantId;
    use uuid::Uuid;

    use super::*;

    fn response(status: u16, body: &'static str, is_json: bool) -> CallResponse {
        CallResponse {
            status,
            body: body.into(),
            is_json,
            retry_after: None,
            took: std::time::Duration::ZERO,
        }
    }

    #[test]
    fn a_response_acknowledges_postpones_or_fails() {
        let cases = [
            (
                response(200, "hi", false),
                "Handled(PostAnswer { text: Some(\"hi\"), actions: [], stopped: None })",
            ),
            (
                response(204, "", false),
                "Handled(PostAnswer { text: Some(\"\"), actions: [], stopped: None })",
            ),
            (
                response(204, "", true),
                "Handled(PostAnswer { text: Some(\"\"), actions: [], stopped: None })",
            ),
            (
                response(200, r#"{"text":"hi"}"#, true),
                "Handled(PostAnswer { text: Some(\"hi\"), actions: [], stopped: None })",
            ),
            (response(202, "", false), "Later"),
            (response(500, "", false), "Failed(\"answered with status 500\")"),
            (response(404, "", false), "Failed(\"answered with status 404\")"),
        ];
        for (response, expected) in cases {
            assert_eq!(format!("{:?}", read_response(&response)), expected);
        }
        let unreadable = read_response(&response(200, "[1]", true));
        assert!(matches!(unreadable, PostOutcome::Failed(_)), "{unreadable:?}");
    }

    #[test]
    fn a_signature_is_that_of_standard_webhooks() {
        let secret = WebhookSecret(STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
        let body = r#"{"test": 2432232314}"#;

        // The example of the specification's reference implementations.
        assert_eq!(
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
        assert_eq!(secret.to_string(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    }

    #[test]
    fn each_agent_and_each_rotation_has_a_secret_of_its_own() {
        let key = WebhookKey::new(&[7; 32]);
        let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()));
        let agent = |number| AgentId::from_uuid(Uuid::from_u128(number));
        let secret = |number, salt| key.secret(scope, agent(number), salt).to_string();

        assert_eq!(secret(1, "a"), secret(1, "a"));
        assert_ne!(secret(1, "a"), secret(2, "a"));
        assert_ne!(secret(1, "a"), secret(1, "b"));
        assert_ne!(secret(1, "a"), key.alert_secret(scope, "a").to_string());
    }
}

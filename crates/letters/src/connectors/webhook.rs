//! Posts letters to URLs of agents, through the HTTP client for URLs that tenants set.
//!
//! A wake contains its context and has the same proofs as any other letter. If the agent has no wake URL, the wake is
//! posted like any other letter.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use aws_lc_rs::hmac;
use nightdesk_outside::{CallResponse, Method, Outside, OutsideCall, TenantUrl};
use nightdesk_protocol::delivery::{
    AgentAbility, AgentDescriptor, ConnectorCapabilities, Delivery, DeliveryReceipt, Features,
    Millis, Payload, PayloadKind, WakeOpts, WakeReceipt, WakeRequest,
};
use nightdesk_types::{Clock, TenantId};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{check_size, is_later, meta_or_new, wake_receipt};
use crate::address::Address;
use crate::connector::AgentConnector;
use crate::error::{ConnectorError, FailureCause};
use crate::ids::millis;

/// The URLs of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HookTarget {
    /// The URL for letters.
    pub url: String,
    /// The URL for wakes, if the agent can be woken.
    pub wake_url: Option<String>,
    /// The URL for health checks.
    pub status_url: Option<String>,
}

/// Posts letters for a tenant.
pub struct Webhook {
    outside: Outside,
    tenant: TenantId,
    agents: BTreeMap<String, HookTarget>,
    bearer: Option<SecretString>,
    secret: Option<SecretString>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// The fields that are read from a response. Unknown fields and fields of another type are ignored.
#[derive(Default)]
struct HookResponse {
    at: Option<Millis>,
    id: Option<String>,
    session: Option<String>,
    skipped: bool,
    woken: Option<bool>,
    warnings: Vec<String>,
}

impl HookResponse {
    fn parse(body: &[u8]) -> Self {
        let Ok(fields) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        let text = |name: &str| fields[name].as_str().map(str::to_owned);
        let warnings = fields["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            at: fields["delivered_at"].as_i64().map(Millis),
            id: text("delivery_id").or_else(|| text("id")).or_else(|| text("ts")),
            session: text("session_id"),
            skipped: fields["delivery_skipped"] == Value::Bool(true),
            woken: fields["woken"].as_bool(),
            warnings: warnings.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }
}

impl Webhook {
    /// Creates the connector of a tenant for these agents.
    pub fn new(
        outside: Outside,
        tenant: TenantId,
        agents: BTreeMap<String, HookTarget>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { outside, tenant, agents, bearer: None, secret: None, clock }
    }

    /// Returns the connector with a bearer token for each call.
    #[must_use]
    pub fn with_bearer(self, bearer: SecretString) -> Self {
        Self { bearer: Some(bearer), ..self }
    }

    /// Returns the connector with a secret that signs each body.
    #[must_use]
    pub fn with_secret(self, secret: SecretString) -> Self {
        Self { secret: Some(secret), ..self }
    }

    fn find_hook(&self, agent_id: &str) -> Result<&HookTarget, ConnectorError> {
        let known = Address::parse(agent_id).find_known_name(|name| self.agents.contains_key(name));
        known
            .map(|name| &self.agents[name])
            .ok_or_else(|| FailureCause::UnknownAgent.into_error(agent_id))
    }

    async fn post(
        &self,
        agent_id: &str,
        url: &str,
        letter: &impl Serialize,
    ) -> Result<HookResponse, ConnectorError> {
        let fails = |cause: FailureCause| cause.into_error(agent_id);
        let body = serde_json::to_vec(letter);
        let body = body.map_err(|error| fails(FailureCause::Invalid(error.to_string())))?;
        let signature = self.secret.as_ref().map(|secret| sign_body(secret, &body));
        let signature = signature.as_deref();
        let reply = self.call(url, Method::Post, signature, Some(body)).await.map_err(fails)?;
        match reply.status {
            200..=299 => Ok(HookResponse::parse(&reply.body)),
            status => Err(fails(FailureCause::Status(status))),
        }
    }

    async fn call(
        &self,
        url: &str,
        method: Method,
        signature: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<CallResponse, FailureCause> {
        let url = TenantUrl::parse(url, self.outside.rules());
        let url = url.map_err(|refused| FailureCause::Invalid(refused.to_string()))?;
        let bearer = self.bearer.as_ref();
        let call = OutsideCall { url: &url, method, bearer, signature, body: body.map(Into::into) };
        Ok(self.outside.call(self.tenant, call).await?)
    }
}

/// Returns the signature of a body, in the form that real runtimes use.
fn sign_body(secret: &SecretString, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    format!("sha256={}", hex::encode(hmac::sign(&key, body)))
}

#[async_trait]
impl AgentConnector for Webhook {
    fn static_capabilities() -> ConnectorCapabilities {
        let (no, yes) = (Some(false), Some(true));
        let features = Features {
            deliver: yes,
            wake: yes,
            list_agents: yes,
            agent_status: no,
            health_check: yes,
            request_response: no,
        };
        ConnectorCapabilities::new("webhook", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        let agent = |(agent_id, hook): (&String, &HookTarget)| {
            let mut can =
                vec![AgentAbility::Deliver, AgentAbility::Augment, AgentAbility::Template];
            can.extend(hook.wake_url.is_some().then_some(AgentAbility::Wake));
            let (agent_id, capabilities) = (agent_id.clone(), Some(can));
            AgentDescriptor { agent_id, agent_name: None, capabilities }
        };
        Ok(self.agents.iter().map(agent).collect())
    }

    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        check_size(agent_id, payload.text())?;
        let hook = self.find_hook(agent_id)?;
        let letter = Delivery { agent_id: agent_id.to_owned(), payload: payload.clone() };
        let response = self.post(agent_id, &hook.url, &letter).await?;
        Ok(DeliveryReceipt {
            delivered_at: response.at.unwrap_or_else(|| millis(&*self.clock)),
            delivery_id: response.id,
            session_id: response.session,
            delivery_skipped: response.skipped,
            warnings: response.warnings,
        })
    }

    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        check_size(agent_id, opts.context.as_deref().unwrap_or_default())?;
        let (hook, address) = (self.find_hook(agent_id)?, Address::parse(agent_id));
        let now = millis(&*self.clock);
        let Some(wake_url) = &hook.wake_url else {
            let words = opts.context.clone().unwrap_or_default();
            let payload = PayloadKind::Augment.make_payload(words, meta_or_new(opts, now));
            let letter = Delivery { agent_id: agent_id.to_owned(), payload };
            self.post(agent_id, &hook.url, &letter).await?;
            return Ok(wake_receipt(&address, opts, now, false));
        };
        let session_id = address.session_of(opts).map(str::to_owned);
        let meta = Some(Box::new(meta_or_new(opts, now)));
        let opts = WakeOpts { session_id: session_id.clone(), meta, ..opts.clone() };
        let letter = WakeRequest { agent_id: agent_id.to_owned(), opts };
        let response = self.post(agent_id, wake_url, &letter).await?;
        let later = is_later(&letter.opts, now);
        Ok(WakeReceipt {
            woken_at: millis(&*self.clock),
            // Most runtimes do not report `woken`. Then a successful call counts as a wake, unless it is for later.
            woken: response.woken.unwrap_or(!later),
            session_id: response.session.or(session_id),
            warnings: response.warnings,
        })
    }

    async fn health_check(&self) -> bool {
        for url in self.agents.values().filter_map(|hook| hook.status_url.as_ref()) {
            let asked = self.call(url, Method::Get, None, None).await;
            if !asked.is_ok_and(|reply| (200..300).contains(&reply.status)) {
                return false;
            }
        }
        true
    }
}

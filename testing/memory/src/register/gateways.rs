//! Implements gateways and their secrets.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::provision::Front;
use nightdesk_register::{Gateway, GatewayProof, Gateways, NewSecret, StoredSecret};
use nightdesk_types::{
    Actor, AgentId, GatewayId, Quota, StoreError, TenantId, TenantScope, Timestamp,
};
use serde_json::json;

use super::super::{Memory, State};
use super::must_be_free;

/// A gateway's row, with its secrets, oldest first.
pub(in super::super) struct GatewayRow {
    pub(super) gateway: Gateway,
    pub(super) name: String,
    pub(super) created_at: Timestamp,
    pub(super) revoked_at: Option<Timestamp>,
    pub(super) secrets: Vec<SecretRow>,
    /// The platforms that it fronts, by its own statement.
    pub(super) fronts: BTreeMap<String, Front>,
    /// The wake URL that it stated.
    pub(super) wake_url: Option<String>,
}

pub(super) struct SecretRow {
    pub(super) new: NewSecret,
    pub(super) created_at: Timestamp,
    /// `None` until it is replaced.
    pub(super) expires_at: Option<Timestamp>,
    /// True if it was issued for a boot.
    pub(super) provisioned: bool,
}

impl SecretRow {
    fn new(secret: &NewSecret, now: Timestamp) -> Self {
        Self { new: secret.clone(), created_at: now, expires_at: None, provisioned: false }
    }
}

impl GatewayRow {
    /// Returns its name.
    pub(in super::super) fn called(&self) -> &str {
        &self.name
    }

    /// Returns its tenant.
    pub(in super::super) const fn scope(&self) -> TenantScope {
        self.gateway.scope
    }

    pub(super) fn is_of(&self, scope: TenantScope, agent: AgentId) -> bool {
        (self.gateway.scope, self.gateway.agent) == (scope, agent)
    }

    fn is(&self, scope: TenantScope, name: &str) -> bool {
        self.gateway.scope == scope && self.name == name
    }

    /// Adds a secret. The previous ones expire after the overlap, if not before.
    pub(super) fn rotate(&mut self, secret: &NewSecret, now: Timestamp, overlap: Duration) {
        let ends_at = now.checked_add(overlap).unwrap_or(Timestamp::MAX);
        for old in &mut self.secrets {
            old.expires_at = Some(old.expires_at.map_or(ends_at, |at| at.min(ends_at)));
        }
        self.secrets.push(SecretRow::new(secret, now));
    }
}

impl State {
    pub(super) fn gateway_named(
        &mut self,
        scope: TenantScope,
        name: &str,
    ) -> Option<&mut GatewayRow> {
        self.gateways.values_mut().find(|row| row.is(scope, name))
    }

    /// Revokes a gateway and removes its wake URL. Returns true if it was live.
    pub(super) fn revoke(&mut self, id: GatewayId, now: Timestamp) -> bool {
        let Some(row) = self.gateways.get_mut(&id) else { return false };
        let is_new = row.revoked_at.is_none();
        row.revoked_at.get_or_insert(now);
        let (of, wake_url) = ((row.gateway.scope, row.gateway.agent), row.wake_url.take());
        self.wakers.entry(of).or_default().retain(|url| Some(url) != wake_url.as_ref());
        is_new
    }

    pub(super) fn enter_gateway(
        &mut self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
        (secret, now): (&NewSecret, Timestamp),
    ) -> Result<GatewayId, StoreError> {
        must_be_free("create a gateway", self.gateway_named(scope, name).is_some())?;
        self.agent("create a gateway", scope, agent)?;
        if self.wrapped(scope, secret.key).is_none() {
            return Err(StoreError::broken("create a gateway", "the tenant has no such key"));
        }
        let row = self.new_gateway(scope, agent, name, now)?;
        row.secrets.push(SecretRow::new(secret, now));
        Ok(row.gateway.id)
    }

    pub(super) fn new_gateway(
        &mut self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
        now: Timestamp,
    ) -> Result<&mut GatewayRow, StoreError> {
        let its = self.gateways.values().filter(|row| row.gateway.scope == scope);
        self.keep_quota("create a gateway", scope, Quota::Gateways, its.count())?;
        let id = GatewayId::from_uuid(self.mint());
        Ok(self.gateways.entry(id).or_insert_with(|| GatewayRow {
            gateway: Gateway { scope: scope.with_actor(Actor::Gateway(id)), id, agent, acks: true },
            name: name.to_owned(),
            created_at: now,
            revoked_at: None,
            secrets: Vec::new(),
            fronts: BTreeMap::new(),
            wake_url: None,
        }))
    }

    pub(super) fn stored_secret(
        &self,
        row: &GatewayRow,
        secret: &SecretRow,
        now: Timestamp,
    ) -> Option<StoredSecret> {
        Some(StoredSecret {
            gateway: row.gateway,
            secret_id: secret.new.id,
            sealed: secret.new.sealed.clone(),
            key: secret.new.key,
            wrapped: self.wrapped(row.gateway.scope, secret.new.key)?.clone(),
            revoked: row.revoked_at.is_some(),
            expired: secret.expires_at.is_some_and(|at| at <= now),
        })
    }
}

#[async_trait]
impl Gateways for Memory {
    async fn create_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
        secret: &NewSecret,
    ) -> Result<GatewayId, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let id = state.enter_gateway(scope, agent, name, (secret, now))?;
        self.tell(&mut state, scope, Kind::GatewayCreated, &json!({ "gateway_id": id }));
        Ok(id)
    }

    async fn rotate(
        &self,
        scope: TenantScope,
        name: &str,
        secret: &NewSecret,
        overlap: Duration,
    ) -> Result<Option<GatewayId>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.gateway_named(scope, name).filter(|row| row.revoked_at.is_none());
        let Some(row) = row else { return Ok(None) };
        row.rotate(secret, now, overlap);
        let id = row.gateway.id;
        self.tell(&mut state, scope, Kind::GatewayRotated, &json!({ "gateway_id": id }));
        Ok(Some(id))
    }

    async fn revoke(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let Some(row) = state.gateway_named(scope, name) else { return Ok(false) };
        let id = row.gateway.id;
        if state.revoke(id, now) {
            self.tell(&mut state, scope, Kind::GatewayRevoked, &json!({ "gateway_id": id }));
        }
        Ok(true)
    }

    async fn gateways_named(&self, name: &str) -> Result<Vec<StoredSecret>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let named = state.gateways.values().filter(|row| row.name == name);
        let secrets = named.flat_map(|row| {
            let newest_first = row.secrets.iter().rev();
            newest_first.filter_map(|secret| state.stored_secret(row, secret, now))
        });
        Ok(secrets.collect())
    }

    async fn gateway_for_tokens(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<GatewayProof>, StoreError> {
        let (now, name) = (self.now(), format!("agent:{agent}"));
        let mut state = self.lock();
        if state.agent("find a gateway", scope, agent).is_err() {
            return Ok(None);
        }
        if state.gateway_named(scope, &name).is_none() {
            state.new_gateway(scope, agent, &name, now)?;
        }
        Ok(state.gateway_named(scope, &name).map(|row| match row.revoked_at {
            Some(_) => GatewayProof::Revoked(row.gateway),
            None => GatewayProof::Valid(row.gateway),
        }))
    }

    async fn revoked_within(
        &self,
        span: Duration,
    ) -> Result<Vec<(TenantId, GatewayId)>, StoreError> {
        let since = self.now().checked_sub(span).unwrap_or(Timestamp::MIN);
        let state = self.lock();
        let lately = |row: &&GatewayRow| row.revoked_at.is_some_and(|at| at > since);
        let revoked = state.gateways.values().filter(lately);
        Ok(revoked.map(|row| (row.gateway.scope.tenant(), row.gateway.id)).collect())
    }
}

//! Implements gateways that provision themselves.

use async_trait::async_trait;
use nightdesk_register::NewSecret;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::{Identity, may_be_called};
use nightdesk_register::provision::{Front, GatewayProvision, ProvisionResult, Provisioning};
use nightdesk_types::limits::{PROVISIONED_SECRETS_MAX, WAKERS_MAX};
use nightdesk_types::{StoreError, TenantScope, Timestamp};
use serde_json::json;

use super::super::{Memory, State};
use super::gateways::{GatewayRow, SecretRow};

impl State {
    /// Stores the wake URL of a gateway. An operator's URL stays.
    fn wake_at(&mut self, identity: &Identity, gateway: &str, url: Option<&String>) {
        let Identity { scope, agent, .. } = *identity;
        let Some(row) = self.gateway_named(scope, gateway) else { return };
        let before = row.wake_url.take();
        let by_gateways: Vec<String> =
            self.gateways.values().filter_map(|row| row.wake_url.clone()).collect();
        let urls = self.wakers.entry((scope, agent)).or_default();
        urls.retain(|one| Some(one) != before.as_ref());
        let no_operators = urls.iter().all(|one| by_gateways.contains(one));
        let Some(url) = url.filter(|_| no_operators && urls.len() < WAKERS_MAX) else { return };
        urls.push(url.clone());
        if let Some(row) = self.gateway_named(scope, gateway) {
            row.wake_url = Some(url.clone());
        }
    }
}

impl GatewayRow {
    /// Returns the secret that this boot already got.
    fn young(&self, provision: &GatewayProvision, now: Timestamp) -> Option<&SecretRow> {
        let since = now.checked_sub(provision.same_for).unwrap_or(Timestamp::MIN);
        let young = |secret: &&SecretRow| {
            secret.provisioned && secret.expires_at.is_none() && secret.created_at > since
        };
        self.secrets.iter().rev().find(young)
    }

    fn replace(&mut self, secret: &NewSecret, provision: &GatewayProvision, now: Timestamp) {
        let ends_at = now.checked_add(provision.overlap).unwrap_or(Timestamp::MAX);
        for old in self.secrets.iter_mut().filter(|old| old.provisioned) {
            old.expires_at = Some(old.expires_at.map_or(ends_at, |at| at.min(ends_at)));
        }
        let over = |old: &SecretRow| old.expires_at.is_some_and(|at| at <= now);
        self.secrets.retain(|old| !(old.provisioned && over(old)));
        let kept = usize::try_from(PROVISIONED_SECRETS_MAX - 1).unwrap_or(0);
        let mut spare =
            self.secrets.iter().filter(|old| old.provisioned).count().saturating_sub(kept);
        self.secrets.retain(|old| {
            let goes = old.provisioned && spare > 0;
            spare -= usize::from(goes);
            !goes
        });
        let new = secret.clone();
        self.secrets.push(SecretRow { new, created_at: now, expires_at: None, provisioned: true });
    }
}

#[async_trait]
impl Provisioning for Memory {
    async fn provision(
        &self,
        identity: &Identity,
        provision: &GatewayProvision,
    ) -> Result<ProvisionResult, StoreError> {
        let (now, said, Identity { scope, agent, .. }) =
            (self.now(), &provision.description, *identity);
        let mut state = self.lock();
        state.agent("provision a gateway", scope, agent)?;
        let bound = state.check_binding(identity, &said.gateway);
        let holder = state.holder(scope, &said.gateway);
        if let Err(refusal) = bound.and_then(|()| may_be_called(agent, holder.as_ref()).map(drop)) {
            return Ok(ProvisionResult::Refused(refusal));
        }
        state.write_binding(identity, &said.gateway);
        if holder.is_none() {
            state.new_gateway(scope, agent, &said.gateway, now)?;
        }
        state.wake_at(identity, &said.gateway, said.wake_url.as_ref());
        let row = state.agent("provision a gateway", scope, agent)?;
        row.display_name.clone_from(&said.display_name);
        let missing = || StoreError::broken("provision a gateway", "it was just entered");
        let row = state.gateway_named(scope, &said.gateway).ok_or_else(missing)?;
        row.fronts.insert(said.front.platform.clone(), said.front.clone());
        let (id, is_new) = (row.gateway.id, row.young(provision, now).is_none());
        if is_new {
            row.replace(&provision.secret, provision, now);
        }
        let about = json!({ "gateway_id": id, "platform": said.front.platform });
        self.tell(&mut state, scope, Kind::GatewayProvisioned, &about);
        if is_new {
            return Ok(ProvisionResult::New(id));
        }
        let row = state.gateways.get(&id).ok_or_else(missing)?;
        let secret = row.young(provision, now).ok_or_else(missing)?;
        let stored = state.stored_secret(row, secret, now).ok_or_else(missing)?;
        Ok(ProvisionResult::Same(Box::new(stored)))
    }

    async fn fronts(&self, scope: TenantScope, gateway: &str) -> Result<Vec<Front>, StoreError> {
        let mut state = self.lock();
        let row = state.gateway_named(scope, gateway);
        Ok(row.map(|row| row.fronts.values().cloned().collect()).unwrap_or_default())
    }
}

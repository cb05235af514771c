//! Implements machine identities and one-time tokens.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::{
    Digest, Enrolling, EnrolmentRefusal, EnrolmentRequest, EnrolmentResult, EnrolmentToken,
    Identity, MachineClient, NameHolder, NewInvitation, StoredClient, bind_client, decide,
};
use nightdesk_types::{Actor, AgentId, ClientId, StoreError, TenantScope, Timestamp};
use serde_json::json;

use super::super::{Memory, State};
use super::must_be_free;

/// A machine identity's row.
pub(in super::super) struct ClientRow {
    client: MachineClient,
    gateway: Option<String>,
    secret: Digest,
    expires_at: Timestamp,
    pub(super) revoked: bool,
}

impl ClientRow {
    pub(super) fn is_of(&self, scope: TenantScope, agent: AgentId) -> bool {
        (self.client.scope, self.client.agent) == (scope, agent)
    }
}

/// A one-time token's row.
pub(in super::super) struct EnrolmentRow {
    agent: AgentId,
    gateway: Option<String>,
    expires_at: Timestamp,
    used: bool,
}

impl State {
    pub(super) fn holder(&mut self, scope: TenantScope, name: &str) -> Option<NameHolder> {
        let row = self.gateway_named(scope, name)?;
        let (gateway, revoked) = (row.gateway, row.revoked_at.is_some());
        Some(NameHolder { gateway: gateway.id, agent: gateway.agent, revoked })
    }

    /// Checks that a machine identity may use a gateway name.
    pub(super) fn check_binding(
        &self,
        identity: &Identity,
        name: &str,
    ) -> Result<(), EnrolmentRefusal> {
        let Some(client) = identity.client else { return Ok(()) };
        let row = self.clients.get(&client).ok_or(EnrolmentRefusal::Unknown)?;
        bind_client(row.gateway.as_deref(), name).map(drop)
    }

    /// Stores the gateway name of a machine identity that has none yet.
    pub(super) fn write_binding(&mut self, identity: &Identity, name: &str) {
        let row = identity.client.and_then(|client| self.clients.get_mut(&client));
        if let Some(row) = row {
            row.gateway.get_or_insert_with(|| name.to_owned());
        }
    }
}

impl EnrolmentRow {
    fn found(&self, now: Timestamp) -> EnrolmentToken {
        let Self { agent, gateway, expires_at, used } = self;
        let gateway = gateway.clone();
        EnrolmentToken { agent: *agent, gateway, used: *used, expired: *expires_at <= now }
    }
}

#[async_trait]
impl Enrolling for Memory {
    async fn invite(
        &self,
        scope: TenantScope,
        agent: AgentId,
        new: &NewInvitation,
    ) -> Result<(), StoreError> {
        let expires_at = self.now().checked_add(new.good_for).unwrap_or(Timestamp::MAX);
        let mut state = self.lock();
        state.agent("invite a gateway", scope, agent)?;
        let token = (scope, *new.token.as_bytes());
        let is_taken =
            state.clients.contains_key(&new.client) || state.enrolments.contains_key(&token);
        must_be_free("invite a gateway", is_taken)?;
        let client = MachineClient {
            scope: scope.with_actor(Actor::Client(new.client)),
            id: new.client,
            agent,
        };
        let gateway = new.gateway.clone();
        let (secret, revoked) = (new.secret, false);
        let row = ClientRow { client, gateway: gateway.clone(), secret, expires_at, revoked };
        state.clients.insert(new.client, row);
        state.enrolments.insert(token, EnrolmentRow { agent, gateway, expires_at, used: false });
        let about = json!({ "agent_id": agent, "client_id": new.client });
        self.tell(&mut state, scope, Kind::GatewayInvited, &about);
        Ok(())
    }

    async fn client(&self, id: ClientId) -> Result<Option<StoredClient>, StoreError> {
        let now = self.now();
        let state = self.lock();
        Ok(state.clients.get(&id).map(|row| StoredClient {
            client: row.client,
            secret: row.secret,
            live: !row.revoked && row.expires_at > now,
        }))
    }

    async fn revoke_client(&self, scope: TenantScope, id: ClientId) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let row = state.clients.get_mut(&id).filter(|row| row.client.scope == scope);
        let Some(row) = row else { return Ok(false) };
        if !std::mem::replace(&mut row.revoked, true) {
            self.tell(&mut state, scope, Kind::ClientRevoked, &json!({ "client_id": id }));
        }
        Ok(true)
    }

    async fn enrol(
        &self,
        identity: &Identity,
        enrol: &EnrolmentRequest,
    ) -> Result<EnrolmentResult, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let token = (identity.scope, *enrol.token.as_bytes());
        let found = state.enrolments.get(&token).map(|row| row.found(now));
        let holder = state.holder(identity.scope, &enrol.gateway);
        let had = decide(identity.agent, &enrol.gateway, found.as_ref(), holder.as_ref());
        let bound = |had| state.check_binding(identity, &enrol.gateway).map(|()| had);
        let had = match had.and_then(bound) {
            Ok(had) => had,
            Err(refusal) => return Ok(EnrolmentResult::Refused(refusal)),
        };
        state.write_binding(identity, &enrol.gateway);
        let secret = (&enrol.secret, now);
        let id = match had {
            Some(id) => {
                let row = state.gateway_named(identity.scope, &enrol.gateway);
                if let Some(row) = row {
                    row.rotate(&enrol.secret, now, enrol.overlap);
                }
                id
            }
            None => state.enter_gateway(identity.scope, identity.agent, &enrol.gateway, secret)?,
        };
        state.enrolments.entry(token).and_modify(|row| row.used = true);
        let about = json!({ "gateway_id": id });
        self.tell(&mut state, identity.scope, Kind::GatewayEnrolled, &about);
        Ok(EnrolmentResult::Gateway(id))
    }
}

//! Gateways: the clients with which agents dial in.

mod views;

use std::time::Duration;

use nightdesk_register::enrolment::Invitation;
use nightdesk_register::{GreetedBot, is_gateway_name};
use nightdesk_types::limits::{ENROLMENT_GOOD_FOR_MAX, GATEWAY_OVERLAP_MAX};
use nightdesk_types::{AgentId, TenantScope};
use nightdesk_vault::Key;

pub use self::views::{
    DeprovisionedAgent, FrontView, GatewaySecretView, GatewayTrust, GatewayTrustView, GatewayView,
    InvitationView, RevokedGateway, SecretLifeView,
};
use crate::error::OfficeError;
use crate::office::Office;

impl Office {
    /// Returns a page of a tenant's gateways, by name, after this one.
    pub async fn gateways(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<GatewayView>, OfficeError> {
        let page = self.desk.stops.register.store().gateways(scope, after).await?;
        Ok(page.into_iter().map(GatewayView::from).collect())
    }

    /// Returns the gateways of an agent, by name, at most a page.
    pub async fn gateways_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GatewayView>, OfficeError> {
        let own = self.desk.stops.register.store().gateways_of(scope, agent).await?;
        Ok(own.into_iter().map(GatewayView::from).collect())
    }

    /// Returns the platforms that a gateway fronts. A gateway that does not provision itself has none.
    pub async fn gateway_fronts(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<Vec<FrontView>, OfficeError> {
        if !self.has_gateway(scope, name).await? {
            return Err(no_gateway(name));
        }
        let fronts = self.desk.stops.register.store().fronts(scope, name).await?;
        Ok(fronts.into_iter().map(FrontView::from).collect())
    }

    /// Creates a gateway of an agent, and returns its secret.
    pub async fn create_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
    ) -> Result<GatewaySecretView, OfficeError> {
        check_gateway_name(name)?;
        if self.has_gateway(scope, name).await? {
            return Err(OfficeError::Conflict(format!(
                "the tenant has a gateway called {name}; choose another name, or give it a new secret with \
                 `nightdesk gateway rotate`"
            )));
        }
        let (_, secret) = self.desk.stops.register.create_gateway(scope, agent, name).await?;
        Ok(secret_view(name, &secret))
    }

    /// Creates an invitation to enrol a gateway of an agent, under this name or, without one, under any.
    pub async fn invite_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: Option<&str>,
        lasts: Duration,
    ) -> Result<InvitationView, OfficeError> {
        if lasts.is_zero() || lasts > ENROLMENT_GOOD_FOR_MAX {
            return Err(OfficeError::Invalid(
                "an invitation is valid for at least 1s and at most 24h; create another one later"
                    .to_owned(),
            ));
        }
        name.map_or(Ok(()), check_gateway_name)?;
        let register = &self.desk.stops.register;
        let bots = register.store().bots_of(scope, agent).await?;
        let invitation = register.invite(scope, agent, name, lasts).await?;
        let gateway = match name {
            Some(name) => name.to_owned(),
            None => self.propose_gateway_name(scope, agent).await?,
        };
        Ok(self.invitation_view(&invitation, gateway, &bots, lasts))
    }

    /// Gives a gateway a new secret. Its earlier secrets stay valid for the given time.
    pub async fn rotate_gateway(
        &self,
        scope: TenantScope,
        name: &str,
        overlap: Duration,
    ) -> Result<GatewaySecretView, OfficeError> {
        if overlap > GATEWAY_OVERLAP_MAX {
            return Err(OfficeError::Invalid(
                "earlier secrets stay valid for at most 720h; choose a shorter overlap".to_owned(),
            ));
        }
        let secret = self.desk.stops.register.rotate(scope, name, overlap).await?;
        secret.map(|secret| secret_view(name, &secret)).ok_or_else(|| no_gateway(name))
    }

    /// Revokes a gateway. Its line is closed, and its client does not come back by itself.
    pub async fn revoke_gateway(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<RevokedGateway, OfficeError> {
        if self.desk.stops.register.store().revoke(scope, name).await? {
            return Ok(RevokedGateway { gateway: name.to_owned(), revoked: true });
        }
        Err(no_gateway(name))
    }

    /// Sets whether the secrets of a tenant's gateways may widen the reach of their agents.
    pub async fn trust_gateways(
        &self,
        scope: TenantScope,
        trust: GatewayTrust,
    ) -> Result<GatewayTrustView, OfficeError> {
        let GatewayTrust { gateways_may_widen } = trust;
        let store = self.desk.stops.register.store();
        store.let_gateways_widen(scope, gateways_may_widen).await?;
        Ok(GatewayTrustView { tenant_id: scope.tenant(), gateways_may_widen })
    }

    /// Removes everything by which an agent can be reached or dial in.
    pub async fn deprovision_agent(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<DeprovisionedAgent, OfficeError> {
        let revoked = self.desk.stops.register.store().deprovision(scope, agent).await?;
        Ok(DeprovisionedAgent { agent_id: agent, gateways_revoked: revoked.len() })
    }

    /// Returns true if the tenant has a gateway of that name with a secret.
    async fn has_gateway(&self, scope: TenantScope, name: &str) -> Result<bool, OfficeError> {
        let known = self.desk.stops.register.store().gateways_named(name).await?;
        Ok(known.iter().any(|secret| secret.gateway.scope == scope))
    }

    /// Returns a gateway name for an agent.
    async fn propose_gateway_name(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<String, OfficeError> {
        let found =
            self.desk.stops.register.store().agents_called(scope, &agent.to_string()).await?;
        let name = found.iter().find(|one| one.id == agent).map_or("agent", |one| &one.name);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        Ok(format!("gw-{}", name.chars().take(60).map(plain).collect::<String>()))
    }

    fn invitation_view(
        &self,
        invitation: &Invitation,
        gateway: String,
        bots: &[GreetedBot],
        lasts: Duration,
    ) -> InvitationView {
        let url = &self.desk.stops.public_url;
        InvitationView {
            token_url: format!("{url}/oauth/token"),
            client_id: invitation.client.to_string(),
            client_secret: invitation.client_secret.with(str::to_owned),
            token: invitation.token.with(str::to_owned),
            connector_url: url.clone(),
            gateway,
            platforms: platform_names(bots),
            expires_in_secs: lasts.as_secs(),
        }
    }
}

fn check_gateway_name(name: &str) -> Result<(), OfficeError> {
    if is_gateway_name(name) {
        return Ok(());
    }
    Err(OfficeError::Invalid(format!(
        "{name} is not a valid gateway name; use 1 to 64 letters, digits, dots, dashes or underscores"
    )))
}

fn no_gateway(name: &str) -> OfficeError {
    OfficeError::NotFound(format!(
        "the tenant has no live gateway called {name}; `nightdesk gateway list` shows them"
    ))
}

fn secret_view(name: &str, secret: &Key) -> GatewaySecretView {
    GatewaySecretView { gateway: name.to_owned(), secret: secret.with(str::to_owned) }
}

/// Returns the platforms of the agent's bots, each once: the names that its client uses there.
fn platform_names(bots: &[GreetedBot]) -> String {
    let mut platforms: Vec<&str> = bots.iter().map(|bot| bot.platform.as_str()).collect();
    platforms.sort_unstable();
    platforms.dedup();
    platforms.join(",")
}

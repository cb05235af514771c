//! The place that a page is about: the desk, a tenant or an agent, with the user who may see it.

use axum::extract::{FromRequestParts, OriginalUri, RawPathParams};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use nightdesk_office::{OfficeError, TenantSelector};
use nightdesk_types::{AgentId, TenantScope};
use nightdesk_users::{Access, Place, Right};

use crate::layout::{Layout, Section, encode, tenant_path};
use crate::notice::Notice;
use crate::refusal::{Refusal, bad_form};
use crate::session::PageUser;
use crate::state::Dashboard;

/// A page of the desk or of the user, and the user. The page checks the right.
pub(crate) struct DeskPlace {
    pub(crate) access: Access,
    notice: Option<Notice>,
}

impl FromRequestParts<Dashboard> for DeskPlace {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Dashboard) -> Result<Self, Response> {
        let PageUser(access) = PageUser::from_request_parts(parts, desk).await?;
        Ok(Self { access, notice: notice_of(parts) })
    }
}

impl DeskPlace {
    /// Makes the frame of the page.
    pub(crate) fn layout(&self, here: Section) -> Layout {
        Layout::of_desk(&self.access, here).with_notice(self.notice)
    }

    /// Checks a right in the desk as a whole.
    pub(crate) fn check(&self, right: Right) -> Result<(), Refusal> {
        Ok(self.access.check(Place::Desk, right).map_err(OfficeError::from)?)
    }
}

/// The tenant of a path, and a user that may see it.
pub(crate) struct TenantPlace {
    pub(crate) access: Access,
    /// The scope, for reading its state.
    pub(crate) scope: TenantScope,
    /// The tenant as the path names it.
    pub(crate) tenant: String,
    notice: Option<Notice>,
}

impl FromRequestParts<Dashboard> for TenantPlace {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Dashboard) -> Result<Self, Response> {
        let PageUser(access) = PageUser::from_request_parts(parts, desk).await?;
        let tenant = path_parameter(parts, "tenant").await?;
        let found = find_tenant(desk, &access, &tenant).await;
        let scope = found.map_err(Refusal::into_response)?;
        Ok(Self { access, scope, tenant, notice: notice_of(parts) })
    }
}

/// Returns the scope in which a user may read a tenant's state.
pub(crate) async fn find_tenant(
    desk: &Dashboard,
    access: &Access,
    tenant: &str,
) -> Result<TenantScope, Refusal> {
    let selector = TenantSelector::new(tenant);
    Ok(desk.office().tenant(access, Right::Read, &selector).await?)
}

impl TenantPlace {
    /// Returns the address of the tenant's overview.
    pub(crate) fn path(&self) -> String {
        tenant_path(&self.tenant)
    }

    /// Makes the frame of the page.
    pub(crate) fn layout(&self, here: Section) -> Layout {
        let place = Place::Tenant(self.scope.tenant());
        Layout::of_tenant(&self.access, place, &self.tenant, here).with_notice(self.notice)
    }

    /// Returns true if the user may use the right in the tenant.
    pub(crate) fn allows(&self, right: Right) -> bool {
        self.access.allows(Place::Tenant(self.scope.tenant()), right)
    }

    /// Returns the scope for an action that needs this right.
    pub(crate) fn scope_for(&self, right: Right) -> Result<TenantScope, Refusal> {
        let scope = self.access.tenant_scope(self.scope.tenant(), right);
        Ok(scope.map_err(OfficeError::from)?)
    }
}

/// The agent of a path, and a user that may see it.
pub(crate) struct AgentPlace {
    pub(crate) in_tenant: TenantPlace,
    pub(crate) agent: AgentId,
    /// The agent as the path names it.
    pub(crate) called: String,
}

impl FromRequestParts<Dashboard> for AgentPlace {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Dashboard) -> Result<Self, Response> {
        let in_tenant = TenantPlace::from_request_parts(parts, desk).await?;
        let called = path_parameter(parts, "agent").await?;
        let found = desk.office().agent(in_tenant.scope, &called).await;
        let agent = found.map_err(|error| Refusal::from(error).into_response())?;
        Ok(Self { in_tenant, agent, called })
    }
}

impl AgentPlace {
    /// Returns the address of the agent's page.
    pub(crate) fn path(&self) -> String {
        agent_path(&self.in_tenant.tenant, &self.called)
    }
}

/// Returns the address of an agent's page.
pub(crate) fn agent_path(tenant: &str, agent: &str) -> String {
    format!("{}/agents/{}", tenant_path(tenant), encode(agent))
}

fn notice_of(parts: &Parts) -> Option<Notice> {
    let address = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    Notice::of_address(address)
}

/// Returns a parameter of the path, decoded.
async fn path_parameter(parts: &mut Parts, name: &str) -> Result<String, Response> {
    let found = RawPathParams::from_request_parts(parts, &()).await;
    let found = found.map_err(|_| bad_form().into_response())?;
    let value = found.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
    value.ok_or_else(|| bad_form().into_response())
}

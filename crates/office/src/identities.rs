//! Tenants and agents.

use std::fmt::Display;

use nightdesk_register::ListedIdentity;
use nightdesk_types::{Actor, AgentId, TenantId, TenantScope};
use nightdesk_users::{Access, Place, Right, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// A tenant as a caller names it: by name or by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSelector(String);

impl TenantSelector {
    /// Names a tenant.
    pub fn new(called: impl Into<String>) -> Self {
        Self(called.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tenant or an agent in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IdentityView {
    /// The name.
    pub name: String,
    /// The id.
    pub id: String,
    /// The time at which it was created.
    pub created_at: String,
}

impl<Id: Display> From<ListedIdentity<Id>> for IdentityView {
    fn from(listed: ListedIdentity<Id>) -> Self {
        let ListedIdentity { id, name, created_at } = listed;
        Self { name, id: id.to_string(), created_at: seconds(created_at) }
    }
}

/// A tenant that was created.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CreatedTenant {
    /// Its id.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
}

/// An agent that was created.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CreatedAgent {
    /// Its id.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
}

impl Office {
    /// Returns a page of the tenants that the caller may see, by name, after this one.
    pub async fn tenants(
        &self,
        access: &Access,
        after: &str,
    ) -> Result<Vec<IdentityView>, OfficeError> {
        let store = self.desk.stops.register.store();
        if access.sees_desk() {
            let page = store.tenants(after).await?;
            return Ok(page.into_iter().map(IdentityView::from).collect());
        }
        let mut seen = Vec::new();
        for tenant in access.roles.iter().filter_map(|role| Role::tenant(*role)) {
            let found = store.tenants_called(&tenant.to_string()).await?;
            let is_seen = access.allows(Place::Tenant(tenant), Right::Read);
            seen.extend(found.into_iter().filter(|one| is_seen && one.id == tenant));
        }
        seen.sort_by(|one, other| one.name.cmp(&other.name));
        seen.dedup_by(|one, other| one.id == other.id);
        let page = seen.into_iter().filter(|one| one.name.as_str() > after);
        Ok(page.map(IdentityView::from).collect())
    }

    /// Creates a tenant. If one of that name exists, returns it.
    pub async fn create_tenant(
        &self,
        by: Actor,
        name: &str,
    ) -> Result<(CreatedTenant, bool), OfficeError> {
        check_name(name)?;
        let register = &self.desk.stops.register;
        let same = |found: &[ListedIdentity<TenantId>]| {
            found.iter().find(|one| one.name == name).map(|one| one.id)
        };
        if let Some(tenant_id) = same(&register.store().tenants_called(name).await?) {
            return Ok((CreatedTenant { tenant_id }, false));
        }
        let tenant_id = register.create_tenant(by, name).await?;
        Ok((CreatedTenant { tenant_id }, true))
    }

    /// Returns a page of a tenant's agents, by name, after this one.
    pub async fn agents(
        &self,
        scope: TenantScope,
        after: &str,
    ) -> Result<Vec<IdentityView>, OfficeError> {
        let page = self.desk.stops.register.store().agents(scope, after).await?;
        Ok(page.into_iter().map(IdentityView::from).collect())
    }

    /// Creates an agent. If the tenant has one of that name, returns it.
    pub async fn create_agent(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<(CreatedAgent, bool), OfficeError> {
        check_name(name)?;
        let store = self.desk.stops.register.store();
        let found = store.agents_called(scope, name).await?;
        if let Some(one) = found.iter().find(|one| one.name == name) {
            return Ok((CreatedAgent { agent_id: one.id }, false));
        }
        let agent_id = store.create_agent(scope, name).await?;
        Ok((CreatedAgent { agent_id }, true))
    }
}

/// Longest name of a tenant or an agent.
const NAME_BYTES_MAX: usize = 200;

pub(crate) fn check_name(name: &str) -> Result<(), OfficeError> {
    let is_plain =
        (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control);
    if is_plain && !name.contains('/') {
        return Ok(());
    }
    Err(OfficeError::Invalid(format!(
        "a name has 1 to {NAME_BYTES_MAX} bytes on one line, and no slash; choose another"
    )))
}

/// Returns the only one of that name or id.
pub fn single_match<Id: Copy + Display>(
    noun: &str,
    called: &str,
    found: &[ListedIdentity<Id>],
) -> Result<Id, OfficeError> {
    match found {
        [one] => Ok(one.id),
        [] => Err(OfficeError::NotFound(format!(
            "there is no {noun} called {called}; `nightdesk {noun} list` shows them"
        ))),
        [one, other, ..] => Err(OfficeError::Conflict(format!(
            "{called} matches {noun} {} ({}) and {noun} {} ({}); use a name that is not an id, or rename one",
            one.name, one.id, other.name, other.id
        ))),
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::Timestamp;

    use super::*;

    fn named(id: u8, name: &str) -> ListedIdentity<u8> {
        ListedIdentity { id, name: name.to_owned(), created_at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_name_must_mean_one() {
        let two = [named(1, "acme"), named(2, "1")];

        assert_eq!(single_match("tenant", "acme", &two[..1]).unwrap(), 1);
        let none = single_match("agent", "owl", &two[..0]).unwrap_err().to_string();
        assert_eq!(none, "there is no agent called owl; `nightdesk agent list` shows them");
        let both = single_match("tenant", "1", &two).unwrap_err().to_string();
        assert!(both.contains("acme (1)") && both.contains("1 (2)"), "{both}");
    }

    #[test]
    fn a_name_is_one_line_without_a_slash() {
        assert!(check_name("acme").is_ok() && check_name("Bücher & Co").is_ok());
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        for bad in ["", "a/b", "a\nb", &long] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}

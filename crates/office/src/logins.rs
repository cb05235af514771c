//! Logins at a provider.

use nightdesk_types::UserId;
use nightdesk_users::oidc::{ProvenLogin, RuleRole};
use nightdesk_users::{ProviderLogin, Role};

use crate::error::OfficeError;
use crate::office::Office;

impl Office {
    /// Records the login of a proven user. `None`: the user has no role.
    pub async fn log_in(&self, proven: &ProvenLogin) -> Result<Option<UserId>, OfficeError> {
        let mut roles = Vec::with_capacity(proven.roles.len());
        for role in &proven.roles {
            roles.extend(self.claimed_role(role).await?);
        }
        let ProvenLogin { issuer, subject, name, email, .. } = proven.clone();
        let login = ProviderLogin { issuer, subject, name, email, roles };
        Ok(self.users().store().log_in(&login).await?)
    }

    /// Returns the role of a rule. `None`: its tenant does not exist, or no longer.
    async fn claimed_role(&self, role: &RuleRole) -> Result<Option<Role>, OfficeError> {
        let (called, role) = match role {
            RuleRole::Operator => return Ok(Some(Role::Operator)),
            RuleRole::Auditor => return Ok(Some(Role::Auditor)),
            RuleRole::Tenant(called, role) => (called, *role),
        };
        let found = self.desk.stops.register.store().tenants_called(called).await?;
        if let [tenant] = found.as_slice() {
            return Ok(Some(Role::Tenant(tenant.id, role)));
        }
        tracing::warn!("a login rule names tenant {called}, which does not exist or is not unique");
        Ok(None)
    }
}

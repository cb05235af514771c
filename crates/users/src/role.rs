//! The roles of users.

use std::fmt;

use nightdesk_types::TenantId;

/// A role of a user, with the place where it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Runs the desk and every tenant, and reads no messages.
    Operator,
    /// Reads the state and the audit log of the desk and of every tenant, and changes nothing.
    Auditor,
    /// Has a role in one tenant.
    Tenant(TenantId, TenantRole),
}

/// A role in one tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TenantRole {
    /// Manages the tenant and its users.
    Admin,
    /// Works with the tenant's agents and their messages.
    Member,
    /// Reads the tenant's state and its audit log, and changes nothing.
    Auditor,
}

nightdesk_types::slugs! {
    TenantRole:
    Admin = "admin",
    Member = "member",
    Auditor = "auditor",
}

/// The name of a role of the whole desk.
const OPERATOR: &str = "operator";
/// The name of the auditor of the whole desk.
const AUDITOR: &str = "auditor";

impl Role {
    /// Returns the role of this name in a tenant, or in the whole desk. `None`: there is no such role there.
    pub fn from_name(name: &str, tenant: Option<TenantId>) -> Option<Self> {
        match (name, tenant) {
            (OPERATOR, None) => Some(Self::Operator),
            (AUDITOR, None) => Some(Self::Auditor),
            (name, Some(tenant)) => Some(Self::Tenant(tenant, TenantRole::from_slug(name)?)),
            _ => None,
        }
    }

    /// Returns the role's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => OPERATOR,
            Self::Auditor => AUDITOR,
            Self::Tenant(_, role) => role.slug(),
        }
    }

    /// Returns the tenant of the role. `None`: the whole desk.
    pub const fn tenant(self) -> Option<TenantId> {
        match self {
            Self::Operator | Self::Auditor => None,
            Self::Tenant(tenant, _) => Some(tenant),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tenant() {
            Some(tenant) => write!(f, "{} of tenant {tenant}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

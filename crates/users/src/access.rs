//! The decision whether a user may do something, as a pure function.

use std::collections::BTreeSet;

use nightdesk_types::{Actor, TenantId, TenantScope, UserId};

use crate::role::{Role, TenantRole};

#[cfg(test)]
mod tests;

/// A kind of access that a route or a page needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// Read the state of agents, without the texts of messages.
    Read,
    /// Read the texts of messages.
    ReadMessages,
    /// Act on entries, wakes, turns, jobs and letters.
    Work,
    /// Change agents, gateways, bots, reach, skills and alerts.
    Manage,
    /// Change users, their roles and their tokens.
    ManageUsers,
    /// Read the audit log.
    ReadAudit,
    /// Change the desk: tenants, quotas, keys and histories.
    Operate,
}

nightdesk_types::slugs! {
    Right:
    Read = "read",
    ReadMessages = "messages",
    Work = "work",
    Manage = "manage",
    ManageUsers = "users",
    ReadAudit = "audit",
    Operate = "operate",
}

/// The place that an access concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The desk as a whole.
    Desk,
    /// One tenant.
    Tenant(TenantId),
}

/// A tenant whose messages an operator may read for now, because another operator approved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenGlass {
    /// The tenant.
    pub tenant: TenantId,
}

/// A user or a user's program, authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The user.
    pub user: UserId,
    /// The user's name, for pages and lists.
    pub name: String,
    /// The actor that the audit log records.
    pub actor: Actor,
    /// The user's roles.
    pub roles: Vec<Role>,
    /// The limits of a token. `None`: a session, which has every right of its user.
    pub limits: Option<TokenLimits>,
    /// The tenants whose messages the user may read for now.
    pub open_glass: Vec<OpenGlass>,
}

/// The limits that a token adds to its user's roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenLimits {
    /// The rights that it may use.
    pub rights: BTreeSet<Right>,
    /// The only tenant that it reaches.
    pub tenant: Option<TenantId>,
}

/// The reason for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The user has no role there, so the response is the same as for a tenant that does not exist.
    #[error("there is no such tenant")]
    Hidden,
    /// The user's role does not include the right.
    #[error("the role does not include the right `{}`", .0.slug())]
    RoleLacks(Right),
    /// The token does not include the right.
    #[error("the token does not include the right `{}`", .0.slug())]
    TokenLacks(Right),
    /// The tenant has users of its own, and only they decide about its messages.
    #[error(
        "only an admin of the tenant may let users read its messages, because a user of the tenant has logged in; \
         `nightdesk glass ask` requests access for a time"
    )]
    TenantDecides,
}

impl Access {
    /// Returns the scope in which the user may use a right in a tenant.
    pub fn tenant_scope(&self, tenant: TenantId, right: Right) -> Result<TenantScope, Denial> {
        self.check(Place::Tenant(tenant), right)?;
        Ok(TenantScope::for_tenant(tenant).with_actor(self.actor))
    }

    /// Checks a right in a place.
    pub fn check(&self, place: Place, right: Right) -> Result<(), Denial> {
        let is_visible =
            self.roles.iter().any(|role| reaches(*role, place)) && self.token_reaches(place);
        if !is_visible {
            return Err(match place {
                Place::Tenant(_) => Denial::Hidden,
                Place::Desk => Denial::RoleLacks(right),
            });
        }
        let has_right = self.roles.iter().any(|role| grants(*role, place, right));
        if !has_right && !self.reads_by_broken_glass(place, right) {
            return Err(Denial::RoleLacks(right));
        }
        match &self.limits {
            Some(limits) if !limits.rights.contains(&right) => Err(Denial::TokenLacks(right)),
            _ => Ok(()),
        }
    }

    /// Checks that the user may let others read a tenant's messages, by a role or by a login link. The tenant's own admin
    /// may. An operator enters the first users of a tenant, until one of them who reads messages has logged in: later,
    /// this would be a way around a second operator's approval.
    pub fn check_new_reader(
        &self,
        tenant: TenantId,
        tenant_has_reader: bool,
    ) -> Result<(), Denial> {
        self.check(Place::Tenant(tenant), Right::ManageUsers)?;
        let is_admin = self.roles.contains(&Role::Tenant(tenant, TenantRole::Admin));
        if is_admin || !tenant_has_reader { Ok(()) } else { Err(Denial::TenantDecides) }
    }

    /// Returns true if the user may use the right in the place.
    pub fn allows(&self, place: Place, right: Right) -> bool {
        self.check(place, right).is_ok()
    }

    /// Returns true if the user has a role of the whole desk.
    pub fn sees_desk(&self) -> bool {
        self.allows(Place::Desk, Right::Read)
    }

    fn token_reaches(&self, place: Place) -> bool {
        let only = self.limits.as_ref().and_then(|limits| limits.tenant);
        only.is_none_or(|tenant| place == Place::Tenant(tenant))
    }

    /// An operator reads messages only by broken glass.
    fn reads_by_broken_glass(&self, place: Place, right: Right) -> bool {
        let is_open = |glass: &OpenGlass| place == Place::Tenant(glass.tenant);
        right == Right::ReadMessages
            && self.roles.contains(&Role::Operator)
            && self.open_glass.iter().any(is_open)
    }
}

/// Returns true if the role counts in the place.
fn reaches(role: Role, place: Place) -> bool {
    match (role, place) {
        (Role::Operator | Role::Auditor, _) => true,
        (Role::Tenant(of, _), Place::Tenant(tenant)) => of == tenant,
        (Role::Tenant(..), Place::Desk) => false,
    }
}

/// Returns the tenant whose messages a role reads.
pub fn reads_messages_of(role: Role) -> Option<TenantId> {
    role.tenant().filter(|tenant| grants(role, Place::Tenant(*tenant), Right::ReadMessages))
}

/// Returns true if the role includes the right in the place.
fn grants(role: Role, place: Place, right: Right) -> bool {
    reaches(role, place)
        && match role {
            Role::Operator => right != Right::ReadMessages,
            Role::Auditor | Role::Tenant(_, TenantRole::Auditor) => {
                matches!(right, Right::Read | Right::ReadAudit)
            }
            Role::Tenant(_, TenantRole::Admin) => right != Right::Operate,
            Role::Tenant(_, TenantRole::Member) => {
                matches!(right, Right::Read | Right::ReadMessages | Right::Work)
            }
        }
}

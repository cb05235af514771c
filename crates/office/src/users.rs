//! Users and their roles.

use nightdesk_types::{TenantId, TenantScope, UserId};
use nightdesk_users::{
    Access, ListedUser, NewUser, Place, Right, Role, TenantRole, UserSelection, is_user_name,
    reads_messages_of,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RoleView {
    /// The role: `operator` or `auditor` of the desk; `admin`, `member` or `auditor` of a tenant.
    pub role: &'static str,
    /// The tenant. Absent: the desk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// `hand` if a user gave it, `claim` if a provider gives it at each login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
}

impl From<Role> for RoleView {
    fn from(role: Role) -> Self {
        let tenant_id = role.tenant().map(|tenant| tenant.to_string());
        Self { role: role.name(), tenant_id, source: None }
    }
}

/// A user in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UserView {
    /// The user.
    pub user_id: String,
    /// The user's name.
    pub name: String,
    /// The email address.
    pub email: Option<String>,
    /// The provider that the user logs in with.
    pub issuer: Option<String>,
    /// The roles.
    pub roles: Vec<RoleView>,
    /// The open sessions.
    pub sessions: i64,
    /// The time at which the user was created.
    pub created_at: String,
    /// The last login.
    pub used_at: Option<String>,
}

impl From<ListedUser> for UserView {
    fn from(listed: ListedUser) -> Self {
        let roles = listed.roles.into_iter();
        let roles =
            roles.map(|(role, source)| RoleView { source: Some(source.slug()), ..role.into() });
        Self {
            user_id: listed.id.to_string(),
            name: listed.name,
            email: listed.email,
            issuer: listed.issuer,
            roles: roles.collect(),
            sessions: listed.sessions,
            created_at: seconds(listed.created_at),
            used_at: listed.used_at.map(seconds),
        }
    }
}

/// A login link: its code is shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CreatedLink {
    /// The user.
    pub user_id: String,
    /// The address that logs the user in, once.
    pub url: String,
}
impl Office {
    /// Returns a page of users: of a tenant, or of the desk.
    pub async fn user_list(
        &self,
        which: UserSelection,
        after: Option<UserId>,
    ) -> Result<Vec<UserView>, OfficeError> {
        let page = self.users().store().users(which, after).await?;
        Ok(page.into_iter().map(UserView::from).collect())
    }

    /// Creates a user with a role, and returns a login link for them.
    pub async fn create_user(
        &self,
        access: &Access,
        name: &str,
        email: Option<String>,
        role: Role,
    ) -> Result<UserView, OfficeError> {
        let is_address = |email: &String| is_user_name(email) && email.contains('@');
        if !is_user_name(name) || email.as_ref().is_some_and(|email| !is_address(email)) {
            return Err(OfficeError::Invalid(
                "name must have 1 to 200 bytes on one line, and email must be an address"
                    .to_owned(),
            ));
        }
        self.check_reader(access, role).await?;
        let name = name.trim().to_owned();
        let new = NewUser { name, email, roles: vec![role] };
        let user = self.users().store().create_user(access.actor, &new).await?;
        self.user(user).await
    }

    /// Makes a login link for a user.
    pub async fn create_link(
        &self,
        access: &Access,
        user: UserId,
    ) -> Result<CreatedLink, OfficeError> {
        for role in self.check_manages(access, user).await? {
            self.check_reader(access, role).await?;
        }
        let code = self.users().create_link(access.actor, user).await?.ok_or_else(unknown_user)?;
        let url = &self.desk.stops.public_url;
        Ok(CreatedLink {
            user_id: user.to_string(),
            url: code.with(|code| format!("{url}/login?code={code}")),
        })
    }

    /// Gives a user a role.
    pub async fn give_role(
        &self,
        access: &Access,
        user: UserId,
        role: Role,
    ) -> Result<UserView, OfficeError> {
        self.check_reader(access, role).await?;
        if !self.users().store().give_role(access.actor, user, role).await? {
            return Err(OfficeError::Conflict(
                "there is no such user, or the user has too many roles".to_owned(),
            ));
        }
        self.user(user).await
    }

    /// Takes a role from a user.
    pub async fn take_role(
        &self,
        access: &Access,
        user: UserId,
        role: Role,
    ) -> Result<UserView, OfficeError> {
        if !self.users().store().take_role(access.actor, user, role).await? {
            return Err(OfficeError::NotFound("the user does not have that role".to_owned()));
        }
        self.user(user).await
    }

    /// Ends every session of a user. Returns their number.
    pub async fn end_sessions(&self, access: &Access, user: UserId) -> Result<i64, OfficeError> {
        if user != access.user {
            self.check_manages(access, user).await?;
        }
        Ok(self.users().store().end_user_sessions(access.actor, user).await?)
    }

    /// Checks that the caller manages every place in which the user has a role: with a link for a user, the caller could
    /// log in as that user. Returns the roles.
    async fn check_manages(&self, access: &Access, user: UserId) -> Result<Vec<Role>, OfficeError> {
        let found = self.users().store().users(UserSelection::Of(user), None).await?.pop();
        let roles = found.ok_or_else(unknown_user)?.roles.into_iter().map(|(role, _)| role);
        let roles: Vec<Role> = roles.collect();
        for role in &roles {
            let place = role.tenant().map_or(Place::Desk, Place::Tenant);
            access.check(place, Right::ManageUsers)?;
        }
        Ok(roles)
    }

    /// Checks that the caller may let another user read the messages that a role reads.
    async fn check_reader(&self, access: &Access, role: Role) -> Result<(), OfficeError> {
        let Some(tenant) = reads_messages_of(role) else { return Ok(()) };
        let has_reader = self.has_reader(tenant).await?;
        Ok(access.check_new_reader(tenant, has_reader)?)
    }

    /// Returns true if a user that reads a tenant's messages has logged in.
    async fn has_reader(&self, tenant: TenantId) -> Result<bool, OfficeError> {
        let is_reader = |user: &ListedUser| {
            let reads = |(role, _): &(Role, _)| reads_messages_of(*role) == Some(tenant);
            user.used_at.is_some() && user.roles.iter().any(reads)
        };
        let mut after = None;
        loop {
            let page = self.users().store().users(UserSelection::OfTenant(tenant), after).await?;
            if page.iter().any(is_reader) {
                return Ok(true);
            }
            let Some(last) = page.last() else { return Ok(false) };
            after = Some(last.id);
        }
    }

    async fn user(&self, user: UserId) -> Result<UserView, OfficeError> {
        let found = self.users().store().users(UserSelection::Of(user), None).await?.pop();
        found.map(UserView::from).ok_or_else(unknown_user)
    }
}

/// Reads a role of the desk or of a tenant.
pub fn read_role(name: &str, scope: Option<TenantScope>) -> Result<Role, OfficeError> {
    Role::from_name(name, scope.map(TenantScope::tenant)).ok_or_else(|| {
        OfficeError::Invalid(match scope {
            Some(_) => {
                let known = TenantRole::ALL.map(TenantRole::slug).join(", ");
                format!("{name} is no role of a tenant; there are {known}")
            }
            None => format!("{name} is no role of the desk; there are operator, auditor"),
        })
    })
}
pub(crate) fn unknown_user() -> OfficeError {
    OfficeError::NotFound("there is no such user; `nightdesk user list` shows them".to_owned())
}

//! The store interface of users.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::enrolment::Digest;
use nightdesk_types::{
    Actor, ApiTokenId, BreakGlassId, StoreError, TenantId, TenantScope, Timestamp, UserId,
};

use crate::access::{OpenGlass, TokenLimits};
use crate::glass::{GlassRefusal, GlassRequest};
use crate::role::Role;
use crate::session::SessionTimes;

/// A user to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    /// The user's name.
    pub name: String,
    /// The email address by which a provider's login finds the user.
    pub email: Option<String>,
    /// The first roles.
    pub roles: Vec<Role>,
}

/// A login that a provider vouched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLogin {
    /// The provider's issuer.
    pub issuer: String,
    /// The provider's id of the user.
    pub subject: String,
    /// The user's name.
    pub name: String,
    /// The email address, if the provider verified it.
    pub email: Option<String>,
    /// The roles that the provider's claims give. They replace those of the previous login.
    pub roles: Vec<Role>,
}

/// A user in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUser {
    /// The user.
    pub id: UserId,
    /// The user's name.
    pub name: String,
    /// The user's email address.
    pub email: Option<String>,
    /// The provider's issuer, if the user logged in there.
    pub issuer: Option<String>,
    /// The time at which the user was created.
    pub created_at: Timestamp,
    /// The last login or use.
    pub used_at: Option<Timestamp>,
    /// The roles, and the source of each.
    pub roles: Vec<(Role, RoleSource)>,
    /// Sessions that are not over.
    pub sessions: i64,
}

/// The source of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoleSource {
    /// A user gave it.
    Hand,
    /// A provider's claim gives it at each login.
    Claim,
}

nightdesk_types::slugs! {
    RoleSource:
    Hand = "hand",
    Claim = "claim",
}

/// The holder of a credential, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialHolder {
    /// The user.
    pub user: UserId,
    /// The user's name.
    pub name: String,
    /// The user's roles.
    pub roles: Vec<Role>,
    /// The tenants whose messages the user may read for now.
    pub open_glass: Vec<OpenGlass>,
}

/// A session, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUserSession {
    /// The user.
    pub holder: CredentialHolder,
    /// Its times.
    pub times: SessionTimes,
    /// The store's time.
    pub now: Timestamp,
}

/// A token, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredApiToken {
    /// Its id.
    pub id: ApiTokenId,
    /// The user.
    pub holder: CredentialHolder,
    /// Its limits.
    pub limits: TokenLimits,
    /// The time after which it is refused.
    pub expires_at: Timestamp,
    /// Its last recorded use.
    pub used_at: Option<Timestamp>,
    /// The store's time.
    pub now: Timestamp,
}

/// A token to create.
#[derive(Clone, Debug)]
pub struct NewApiToken {
    /// Its name, for lists.
    pub name: String,
    /// The digest of its text.
    pub secret: Digest,
    /// Its limits.
    pub limits: TokenLimits,
    /// Its lifetime.
    pub lasts: Duration,
}

/// A token in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedApiToken {
    /// Its id.
    pub id: ApiTokenId,
    /// Its user.
    pub user: UserId,
    /// Its name.
    pub name: String,
    /// Its limits.
    pub limits: TokenLimits,
    /// The time at which it was created.
    pub created_at: Timestamp,
    /// The time after which it is refused.
    pub expires_at: Timestamp,
    /// Its last recorded use.
    pub used_at: Option<Timestamp>,
    /// The time at which it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// The outcome of a new token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenCreation {
    /// It was created.
    Created(ApiTokenId),
    /// The user has too many live tokens.
    TooMany,
    /// There is no such user.
    UnknownUser,
}

/// The users that a list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserSelection {
    /// All users.
    All,
    /// Users with a role in this tenant. Of their roles, the list has those in the tenant.
    OfTenant(TenantId),
    /// One user.
    Of(UserId),
}

/// Stores users and their roles.
#[async_trait]
pub trait UserDirectory: Send + Sync {
    /// Creates a user. The audit log of each place records the roles.
    async fn create_user(&self, by: Actor, new: &NewUser) -> Result<UserId, StoreError>;

    /// Records a login of a provider. Finds the user by the provider's id, then by a verified email address that was
    /// entered by hand for a user without a provider; otherwise creates one if the claims give any role. `None`: the
    /// user has no role, and no session begins.
    async fn log_in(&self, login: &ProviderLogin) -> Result<Option<UserId>, StoreError>;

    /// Returns a page of users, by id, after this one.
    async fn users(
        &self,
        which: UserSelection,
        after: Option<UserId>,
    ) -> Result<Vec<ListedUser>, StoreError>;

    /// Gives a user a role. Returns true if the user exists and has fewer roles than the maximum.
    async fn give_role(&self, by: Actor, user: UserId, role: Role) -> Result<bool, StoreError>;

    /// Takes a role from a user, and ends the user's sessions if none is left. Returns true if the user had it.
    async fn take_role(&self, by: Actor, user: UserId, role: Role) -> Result<bool, StoreError>;
}

/// Stores login links and sessions.
#[async_trait]
pub trait LoginStore: Send + Sync {
    /// Creates a login link. Returns true if the user exists.
    async fn create_link(
        &self,
        by: Actor,
        user: UserId,
        link: Digest,
        lasts: Duration,
    ) -> Result<bool, StoreError>;

    /// Uses a login link, once. `None`: it is unknown, used or over.
    async fn redeem_link(&self, shown: Digest) -> Result<Option<UserId>, StoreError>;

    /// Begins a session of a user. Returns true if the user has a role.
    async fn begin_user_session(&self, user: UserId, cookie: Digest) -> Result<bool, StoreError>;

    /// Returns a session that was not ended. The caller decides whether it is over.
    async fn user_session(&self, shown: Digest) -> Result<Option<StoredUserSession>, StoreError>;

    /// Records the use of a session.
    async fn touch_session(&self, shown: Digest) -> Result<(), StoreError>;

    /// Ends a session.
    async fn end_user_session(&self, shown: Digest) -> Result<(), StoreError>;

    /// Ends every session of a user. Returns their number.
    async fn end_user_sessions(&self, by: Actor, user: UserId) -> Result<i64, StoreError>;
}

/// Stores API tokens.
#[async_trait]
pub trait ApiTokenStore: Send + Sync {
    /// Creates a token of a user.
    async fn create_api_token(
        &self,
        by: Actor,
        user: UserId,
        new: &NewApiToken,
    ) -> Result<TokenCreation, StoreError>;

    /// Returns a token that was not revoked. The caller decides whether it is over.
    async fn api_token(&self, shown: Digest) -> Result<Option<StoredApiToken>, StoreError>;

    /// Records the use of a token.
    async fn touch_api_token(&self, id: ApiTokenId) -> Result<(), StoreError>;

    /// Returns a page of the tokens of a user or of all users, by id, after this one.
    async fn api_tokens(
        &self,
        user: Option<UserId>,
        after: Option<ApiTokenId>,
    ) -> Result<Vec<ListedApiToken>, StoreError>;

    /// Revokes a token; of this user only, if one is named. Returns true if it was not revoked before.
    async fn revoke_api_token(
        &self,
        by: Actor,
        id: ApiTokenId,
        of: Option<UserId>,
    ) -> Result<bool, StoreError>;
}

/// Stores requests of operators to read a tenant's messages.
#[async_trait]
pub trait GlassStore: Send + Sync {
    /// Records the request of an operator to read a tenant's messages, in the tenant's audit log.
    async fn ask_glass(
        &self,
        scope: TenantScope,
        by: UserId,
        reason: &str,
        lasts: Duration,
    ) -> Result<GlassRequest, StoreError>;

    /// Approves a request. `None`: there is no such request.
    async fn approve_glass(
        &self,
        by: UserId,
        id: BreakGlassId,
    ) -> Result<Option<Result<GlassRequest, GlassRefusal>>, StoreError>;

    /// Ends a request, or withdraws it. Returns true if it was not over.
    async fn end_glass(&self, by: UserId, id: BreakGlassId) -> Result<bool, StoreError>;

    /// Returns the newest requests, of one tenant or of all.
    async fn glass_requests(
        &self,
        tenant: Option<TenantId>,
    ) -> Result<Vec<GlassRequest>, StoreError>;
}

/// The complete store interface of users.
pub trait UserStore: UserDirectory + LoginStore + ApiTokenStore + GlassStore {}

impl<T: UserDirectory + LoginStore + ApiTokenStore + GlassStore> UserStore for T {}

//! The caller, and the tokens of users.

use std::collections::BTreeSet;
use std::time::Duration;

use nightdesk_types::limits::{API_TOKEN_LIFE, API_TOKEN_LIFE_MAX};
use nightdesk_types::{Actor, ApiTokenId, UserId};
use nightdesk_users::{
    Access, Denial, ListedApiToken, Right, TokenCreation, TokenLimits, is_user_name,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::identities::TenantSelector;
use crate::office::Office;
use crate::times::seconds;
use crate::users::{RoleView, unknown_user};

/// The caller, as the desk knows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WhoAmI {
    /// The user.
    pub user_id: String,
    /// The user's name.
    pub name: String,
    /// The user's roles.
    pub roles: Vec<RoleView>,
    /// The rights of the token. Absent for a session, which has every right of its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<Vec<&'static str>>,
    /// The only tenant that the token reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}
/// A token to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTokenRequest {
    /// A name for lists.
    pub name: String,
    /// The rights: `read`, `messages`, `work`, `manage`, `users`, `audit`, `operate`.
    pub rights: Vec<String>,
    /// The only tenant that it reaches, by name or id. Without it, every tenant of the user.
    #[serde(default)]
    pub tenant: Option<String>,
    /// The lifetime in days. Default: 90.
    #[serde(default)]
    pub days: Option<u32>,
}

/// A token that was created: its text is shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CreatedTokenView {
    /// Its id.
    pub token_id: String,
    /// Its text, for `Authorization: Bearer`.
    pub token: String,
}

/// A token in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TokenView {
    /// Its id.
    pub token_id: String,
    /// Its user.
    pub user_id: String,
    /// Its name.
    pub name: String,
    /// Its rights.
    pub rights: Vec<&'static str>,
    /// The only tenant that it reaches.
    pub tenant_id: Option<String>,
    /// The time at which it was created.
    pub created_at: String,
    /// The time after which it is refused.
    pub expires_at: String,
    /// Its last use.
    pub used_at: Option<String>,
    /// The time at which it was revoked.
    pub revoked_at: Option<String>,
}

impl From<ListedApiToken> for TokenView {
    fn from(listed: ListedApiToken) -> Self {
        Self {
            token_id: listed.id.to_string(),
            user_id: listed.user.to_string(),
            name: listed.name,
            rights: slugs(&listed.limits.rights),
            tenant_id: listed.limits.tenant.map(|tenant| tenant.to_string()),
            created_at: seconds(listed.created_at),
            expires_at: seconds(listed.expires_at),
            used_at: listed.used_at.map(seconds),
            revoked_at: listed.revoked_at.map(seconds),
        }
    }
}
fn slugs(rights: &BTreeSet<Right>) -> Vec<&'static str> {
    rights.iter().map(|right| right.slug()).collect()
}
impl Office {
    /// Describes the caller.
    pub fn who_am_i(access: &Access) -> WhoAmI {
        let limits = access.limits.as_ref();
        WhoAmI {
            user_id: access.user.to_string(),
            name: access.name.clone(),
            roles: access.roles.iter().map(|role| RoleView::from(*role)).collect(),
            rights: limits.map(|limits| slugs(&limits.rights)),
            tenant_id: limits.and_then(|limits| limits.tenant).map(|tenant| tenant.to_string()),
        }
    }

    /// Exchanges the code of a login link for a token of a command line, which has every right of its user.
    pub async fn log_in_by_link(&self, code: &str) -> Result<CreatedTokenView, OfficeError> {
        let user = self.users().redeem_link(code).await?;
        let user = user.ok_or_else(|| {
            OfficeError::NotFound(
                "the link is unknown, used or older than fifteen minutes; ask for a new one"
                    .to_owned(),
            )
        })?;
        let limits = TokenLimits { rights: Right::ALL.into_iter().collect(), tenant: None };
        self.issue_token(user, "nightdesk login", limits, API_TOKEN_LIFE).await
    }

    /// Creates a token of the caller. It has no right that the caller lacks.
    pub async fn create_token(
        &self,
        access: &Access,
        request: &NewTokenRequest,
    ) -> Result<CreatedTokenView, OfficeError> {
        check_token_rights(access)?;
        let limits = self.token_limits(access, request).await?;
        let days =
            request.days.map_or(API_TOKEN_LIFE, |days| Duration::from_hours(24 * u64::from(days)));
        if days.is_zero() || days > API_TOKEN_LIFE_MAX {
            return Err(OfficeError::Invalid("days must be 1 to 366".to_owned()));
        }
        if !is_user_name(&request.name) {
            return Err(OfficeError::Invalid(
                "name must have 1 to 200 bytes on one line".to_owned(),
            ));
        }
        self.issue_token(access.user, request.name.trim(), limits, days).await
    }

    async fn token_limits(
        &self,
        access: &Access,
        request: &NewTokenRequest,
    ) -> Result<TokenLimits, OfficeError> {
        let read = |name: &String| {
            Right::from_slug(name).ok_or_else(|| {
                let known = Right::ALL.map(Right::slug).join(", ");
                OfficeError::Invalid(format!("{name} is no right; there are {known}"))
            })
        };
        let mut rights: BTreeSet<Right> =
            request.rights.iter().map(read).collect::<Result<_, _>>()?;
        if rights.is_empty() {
            return Err(OfficeError::Invalid("rights must name at least one right".to_owned()));
        }
        let mut tenant = None;
        if let Some(called) = &request.tenant {
            let called = TenantSelector::new(called.as_str());
            tenant = Some(self.tenant(access, Right::Read, &called).await?.tenant());
        }
        if let Some(own) = &access.limits {
            // A token makes no token that does more.
            rights.retain(|right| own.rights.contains(right));
            tenant = own.tenant.or(tenant);
        }
        Ok(TokenLimits { rights, tenant })
    }

    async fn issue_token(
        &self,
        user: UserId,
        name: &str,
        limits: TokenLimits,
        lasts: Duration,
    ) -> Result<CreatedTokenView, OfficeError> {
        let by = Actor::User(user);
        let created = self.users().create_token(by, user, name, limits, lasts).await?;
        match created.creation {
            TokenCreation::Created(id) => Ok(CreatedTokenView {
                token_id: id.to_string(),
                token: created.text.with(str::to_owned),
            }),
            TokenCreation::TooMany => Err(OfficeError::Conflict(
                "the user has too many tokens; revoke one first".to_owned(),
            )),
            TokenCreation::UnknownUser => Err(unknown_user()),
        }
    }

    /// Returns a page of the caller's tokens.
    pub async fn tokens(
        &self,
        access: &Access,
        after: Option<ApiTokenId>,
    ) -> Result<Vec<TokenView>, OfficeError> {
        let page = self.users().store().api_tokens(Some(access.user), after).await?;
        Ok(page.into_iter().map(TokenView::from).collect())
    }

    /// Revokes a token of the caller.
    pub async fn revoke_token(&self, access: &Access, id: ApiTokenId) -> Result<(), OfficeError> {
        if access.actor != Actor::Token(id) {
            check_token_rights(access)?;
        }
        let of = Some(access.user);
        if self.users().store().revoke_api_token(access.actor, id, of).await? {
            return Ok(());
        }
        Err(OfficeError::NotFound("there is no such token, or it was revoked".to_owned()))
    }
}

/// Checks that a token may manage its user's tokens. A session may.
fn check_token_rights(access: &Access) -> Result<(), OfficeError> {
    match &access.limits {
        Some(limits) if !limits.rights.contains(&Right::ManageUsers) => {
            Err(Denial::TokenLacks(Right::ManageUsers).into())
        }
        _ => Ok(()),
    }
}

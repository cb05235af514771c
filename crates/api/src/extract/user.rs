//! Users and their programs, authenticated by an API token, with the right that a route needs.
//!
//! A handler names its right in its signature: `TenantAccess<Work>` is the tenant of the path and a caller that may work
//! there.

use std::marker::PhantomData;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use nightdesk_desk::LimitedAction;
use nightdesk_line::ConnectionProof;
use nightdesk_line::upgrade::bearer_token;
use nightdesk_office::{OfficeError, TenantSelector};
use nightdesk_types::{AgentId, TenantScope};
use nightdesk_users::{Access, Place, Right};

use super::client_address;
use crate::problem::{self, OrUnavailable, Problem};
use crate::state::ApiState;

/// The right that a route needs.
pub(crate) trait NeededRight: Send + Sync {
    /// The right.
    const RIGHT: Right;
}

macro_rules! needed_rights {
    ($($name:ident)+) => {
        $(
            #[doc = concat!("The route needs [`Right::", stringify!($name), "`].")]
            pub(crate) struct $name;

            impl NeededRight for $name {
                const RIGHT: Right = Right::$name;
            }
        )+
    };
}

needed_rights! { Read Work Manage ManageUsers Operate ReadAudit }

/// An authenticated user. The call counts against the user's rate.
pub(crate) struct SignedIn(pub(crate) Access);

impl FromRequestParts<ApiState> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let from = client_address(parts)?;
        let found = match bearer_token(&parts.headers) {
            Some(token) => api.office.users().token(token).await,
            None => Ok(None),
        };
        let access = found.or_unavailable("a user could not be identified")?;
        let access = access.ok_or_else(|| {
            api.unauthorized(
                from,
                "send an API token of a user; `nightdesk login` gets one, and the dashboard makes them",
            )
        })?;
        ConnectionProof::record_in(&parts.extensions);
        let counted = api.desk.stops.limits.allow(LimitedAction::Office, &access.user.to_string());
        let detail = "the user exceeds the rate limit; wait, and send fewer requests";
        counted.map_err(|_| problem::TOO_MANY.with_detail(detail))?;
        Ok(Self(access))
    }
}

/// A user with a right in the desk as a whole.
pub(crate) struct DeskAccess<R> {
    pub(crate) access: Access,
    right: PhantomData<R>,
}

impl<R: NeededRight> FromRequestParts<ApiState> for DeskAccess<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let SignedIn(access) = SignedIn::from_request_parts(parts, api).await?;
        access.check(Place::Desk, R::RIGHT).map_err(OfficeError::from)?;
        Ok(Self { access, right: PhantomData })
    }
}

/// A user with a right in the tenant of the path.
pub(crate) struct TenantAccess<R> {
    pub(crate) scope: TenantScope,
    pub(crate) access: Access,
    right: PhantomData<R>,
}

impl<R: NeededRight> FromRequestParts<ApiState> for TenantAccess<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let SignedIn(access) = SignedIn::from_request_parts(parts, api).await?;
        let called = TenantSelector::new(path_parameter(parts, "tenant").await?);
        let scope = api.office.tenant(&access, R::RIGHT, &called).await?;
        Ok(Self { scope, access, right: PhantomData })
    }
}

/// A user with a right in the tenant of the path, and the agent of the path.
pub(crate) struct AgentAccess<R> {
    pub(crate) scope: TenantScope,
    pub(crate) agent: AgentId,
    pub(crate) access: Access,
    right: PhantomData<R>,
}

impl<R: NeededRight> FromRequestParts<ApiState> for AgentAccess<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let tenant = TenantAccess::<R>::from_request_parts(parts, api).await?;
        let TenantAccess { scope, access, right } = tenant;
        let called = path_parameter(parts, "agent").await?;
        let agent = api.office.agent(scope, &called).await?;
        Ok(Self { scope, agent, access, right })
    }
}

/// Returns a parameter of the path, decoded.
async fn path_parameter(parts: &mut Parts, name: &str) -> Result<String, Problem> {
    let unreadable = || problem::BAD_REQUEST.with_detail("the path is not UTF-8");
    let found = RawPathParams::from_request_parts(parts, &()).await.map_err(|_| unreadable())?;
    let value = found.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
    value.ok_or_else(unreadable)
}

impl From<OfficeError> for Problem {
    fn from(error: OfficeError) -> Self {
        let text = error.to_string();
        match error {
            OfficeError::NotFound(_) => problem::NOT_FOUND.with_detail(text),
            OfficeError::Conflict(_) => problem::CONFLICT.with_detail(text),
            OfficeError::Invalid(_) => problem::BAD_REQUEST.with_detail(text),
            OfficeError::Unavailable(_) => problem::UNAVAILABLE.with_detail(text),
            OfficeError::NotAllowed(_) => problem::FORBIDDEN.with_detail(text),
            OfficeError::Denied(denial) => match denial {
                nightdesk_users::Denial::Hidden => problem::NOT_FOUND.with_detail(text),
                nightdesk_users::Denial::RoleLacks(_)
                | nightdesk_users::Denial::TokenLacks(_)
                | nightdesk_users::Denial::TenantDecides => problem::FORBIDDEN.with_detail(text),
            },
            OfficeError::OverQuota(_) => problem::OVER_QUOTA.with_detail(text),
            OfficeError::Letter(error) => error.into(),
            OfficeError::Skill(error) => error.into(),
            OfficeError::Data(error) => error.into(),
            OfficeError::Store(cause) => problem::unavailable(&cause, "a user's request failed"),
            OfficeError::Key(cause) => problem::unavailable(&cause, "a user's request failed"),
        }
    }
}

//! The user of a request, found by the cookie of a session.

use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Form, RequestExt};
use nightdesk_line::ConnectionProof;
use nightdesk_pages::is_cross_site;
use nightdesk_users::Access;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::cookie::PageCookie;
use crate::refusal::{Refusal, bad_form, cross_site, unavailable};
use crate::state::Dashboard;

/// A user with a session. Without one, the request is redirected to the login.
pub(crate) struct PageUser(pub(crate) Access);

impl FromRequestParts<Dashboard> for PageUser {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, desk: &Dashboard) -> Result<Self, Response> {
        let cookie = PageCookie::Session.read(&parts.headers, desk.public_url());
        let found = match cookie {
            Some(cookie) => desk.office().users().session(&cookie).await,
            None => Ok(None),
        };
        let access = found.map_err(|error| unavailable(&error).into_response())?;
        let access = access.ok_or_else(|| to_login(parts))?;
        ConnectionProof::record_in(&parts.extensions);
        Ok(Self(access))
    }
}

/// Redirects to the login, which returns to this page.
fn to_login(parts: &Parts) -> Response {
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    let page = uri.path_and_query().map_or("/", |path| path.as_str());
    let page: String = url::form_urlencoded::byte_serialize(page.as_bytes()).collect();
    Redirect::to(&format!("/login?return_to={page}")).into_response()
}

/// A form that is only a button.
#[derive(Deserialize)]
pub(crate) struct NoFields {}

/// A form of a page of this desk. A form of another site is refused.
pub(crate) struct OwnForm<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest<Dashboard> for OwnForm<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, desk: &Dashboard) -> Result<Self, Refusal> {
        if is_cross_site(request.headers(), desk.public_url()) {
            return Err(cross_site());
        }
        let form = request.extract::<Form<T>, _>().await.map_err(|_| bad_form())?;
        Ok(Self(form.0))
    }
}

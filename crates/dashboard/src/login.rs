//! `/login`, `/login/to/{provider}`, `/login/from/{provider}`, `/logout`: sessions begin and end.

use std::error::Error;
use std::net::SocketAddr;

use askama::Template;
use axum::Router;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use nightdesk_pages::render_page;
use nightdesk_types::UserId;
use nightdesk_users::oidc::{LoginAttempt, LoginError, LoginProvider, local_path};
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::cookie::PageCookie;
use crate::refusal::{Refusal, unavailable};
use crate::session::{NoFields, OwnForm, PageUser};
use crate::state::Dashboard;

pub(crate) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/login", get(show).post(log_in_by_link))
        .route("/login/to/{provider}", get(begin))
        .route("/login/from/{provider}", get(finish))
        .route("/logout", post(log_out))
        .route("/logout/everywhere", post(log_out_everywhere))
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    providers: &'a [LoginProvider],
    /// The code of a login link.
    code: Option<&'a str>,
    /// The query of the links to providers.
    query: String,
    return_to: &'a str,
}

/// The query of the login page.
#[derive(Deserialize)]
struct LoginQuery {
    code: Option<String>,
    #[serde(default)]
    return_to: String,
}

/// Shows the providers, or the button that uses a login link. A link is used by a form, so that a program that looks at
/// links does not use it up.
async fn show(State(desk): State<Dashboard>, Query(query): Query<LoginQuery>) -> Response {
    let return_to = local_path(&query.return_to);
    let encoded = url::form_urlencoded::byte_serialize(return_to.as_bytes()).collect::<String>();
    render_page(&LoginPage {
        providers: desk.logins().providers(),
        code: query.code.as_deref(),
        query: format!("return_to={encoded}"),
        return_to,
    })
}

/// The form of a login link.
#[derive(Deserialize)]
struct LinkForm {
    code: String,
    #[serde(default)]
    return_to: String,
}

async fn log_in_by_link(
    State(desk): State<Dashboard>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    OwnForm(form): OwnForm<LinkForm>,
) -> Result<Response, Refusal> {
    let user = desk.office().users().redeem_link(form.code.trim()).await;
    let Some(user) = user.map_err(|error| unavailable(&error))? else {
        return Err(bad_link(&desk, from));
    };
    begin_session(&desk, user, local_path(&form.return_to)).await
}

fn bad_link(desk: &Dashboard, from: SocketAddr) -> Refusal {
    if desk.count_failure(from.ip()) {
        return Refusal::new(
            StatusCode::UNAUTHORIZED,
            "This link is of no use",
            "It is unknown, used or older than fifteen minutes. Ask for a new one; on the desk's own machine, \
             `nightdesk admin link` prints one.",
        );
    }
    Refusal::new(
        StatusCode::TOO_MANY_REQUESTS,
        "Too many attempts",
        "Too many logins failed from your network. Wait a minute, and try again.",
    )
}

/// Begins a session, and leads to a page.
async fn begin_session(
    desk: &Dashboard,
    user: UserId,
    return_to: &str,
) -> Result<Response, Refusal> {
    let cookie = desk.office().users().begin_session(user).await;
    let cookie = cookie.map_err(|error| unavailable(&error))?.ok_or_else(no_role)?;
    let cookie = cookie.with(|cookie| PageCookie::Session.set(cookie, desk.public_url()));
    Ok(with_cookies(Redirect::to(return_to), cookie))
}

fn with_cookies(
    response: impl IntoResponse,
    cookies: impl IntoIterator<Item = HeaderValue>,
) -> Response {
    let mut response = response.into_response();
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

fn no_role() -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "You have no access yet",
        "Your login is right, but you have no role on this desk. Ask an administrator for one, and log in again.",
    )
}

/// The query of the way to a provider.
#[derive(Deserialize)]
struct ReturnQuery {
    #[serde(default)]
    return_to: String,
}

/// Begins a login at a provider.
async fn begin(
    State(desk): State<Dashboard>,
    Path(name): Path<String>,
    Query(query): Query<ReturnQuery>,
) -> Result<Response, Refusal> {
    let logins = desk.logins();
    let provider = logins.find(&name).ok_or_else(no_provider)?;
    let attempt = LoginAttempt::begin(&name, &query.return_to, desk.now());
    let url = provider.authorization_url(&attempt, logins.key()).await;
    let url = url.map_err(|error| failed_login(&error))?;
    let cookie = PageCookie::Login.set(&attempt.cookie(logins.key()), desk.public_url());
    Ok(with_cookies(Redirect::to(&url), cookie))
}

/// The answer of a provider, as the browser brings it.
#[derive(Deserialize)]
struct ProviderAnswer {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
    /// The issuer of the answer (RFC 9207).
    iss: Option<String>,
    error: Option<String>,
}

/// Finishes a login at a provider, in the browser that began it.
async fn finish(
    State(desk): State<Dashboard>,
    Path(name): Path<String>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Query(answer): Query<ProviderAnswer>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let logins = desk.logins();
    let provider = logins.find(&name).ok_or_else(no_provider)?;
    let cookie = PageCookie::Login.read(&headers, desk.public_url()).unwrap_or_default();
    let attempt = LoginAttempt::from_cookie(&cookie, logins.key(), desk.now());
    let attempt = attempt.filter(|attempt| attempt.is_of(&name, &answer.state, logins.key()));
    let Some(attempt) = attempt.filter(|_| provider.is_issuer(answer.iss.as_deref())) else {
        return Err(other_login(&desk, from));
    };
    if answer.error.is_some() {
        return Err(declined());
    }
    let proven = provider.finish(&attempt, logins.key(), &answer.code, desk.now()).await;
    let proven = proven.map_err(|error| failed_login(&error))?;
    let user = desk.office().log_in(&proven).await?.ok_or_else(no_role)?;
    let begun = begin_session(&desk, user, &attempt.return_to).await?;
    Ok(with_cookies(begun, PageCookie::Login.remove(desk.public_url())))
}

fn no_provider() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "There is no such login",
        "The desk knows no login provider of that name. Begin again at the login page.",
    )
}

/// The answer is not of the login that this browser began.
fn other_login(desk: &Dashboard, from: SocketAddr) -> Refusal {
    let text = if desk.count_failure(from.ip()) {
        "The login took too long, or it was begun in another browser. Begin again."
    } else {
        "Too many logins failed from your network. Wait a minute, and try again."
    };
    Refusal::new(StatusCode::UNAUTHORIZED, "The login could not be finished", text)
}

fn declined() -> Refusal {
    Refusal::new(
        StatusCode::UNAUTHORIZED,
        "The login was declined",
        "The login provider did not let you in, or you cancelled. Begin again, or ask an administrator.",
    )
}

fn failed_login(error: &LoginError) -> Refusal {
    tracing::warn!(error = error as &dyn Error, "a login at a provider failed");
    let status = match error {
        LoginError::Refused => StatusCode::UNAUTHORIZED,
        LoginError::Provider(_) | LoginError::Keys(_) => StatusCode::BAD_GATEWAY,
    };
    Refusal::new(status, "The login could not be finished", error.to_string())
}

/// Ends the session of the browser.
async fn log_out(
    State(desk): State<Dashboard>,
    headers: HeaderMap,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    if let Some(cookie) = PageCookie::Session.read(&headers, desk.public_url()) {
        let ended = desk.office().users().end_session(&cookie).await;
        ended.map_err(|error| unavailable(&error))?;
    }
    Ok(leave(&desk))
}

/// Ends every session of the user.
async fn log_out_everywhere(
    State(desk): State<Dashboard>,
    PageUser(access): PageUser,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    desk.office().end_sessions(&access, access.user).await?;
    Ok(leave(&desk))
}

fn leave(desk: &Dashboard) -> Response {
    with_cookies(Redirect::to("/login"), PageCookie::Session.remove(desk.public_url()))
}

#[cfg(test)]
mod tests {
    use nightdesk_users::oidc::ProviderCallError;

    use super::*;

    #[test]
    fn a_refused_login_is_no_fault_of_the_provider() {
        let silent = LoginError::Provider(ProviderCallError("no response".to_owned()));
        for (error, want) in [(LoginError::Refused, 401), (silent, 502)] {
            assert_eq!(failed_login(&error).into_response().status(), want, "{error}");
        }
    }
}

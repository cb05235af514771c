//! Makes single calls to Discord and interprets the responses.
//!
//! Discord's error texts are discarded, because they may quote the request. The token of an interaction is part of the
//! URL, so no URL is in any error or log.
//!
//! A client library would retry rate-limited calls without an end, read responses of any length, and log URLs. The
//! adapter needs only a dozen calls.

use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue, USER_AGENT};
use nightdesk_kit::{
    BaseUrl, HttpClient, OpenError, PlatformCallError, PlatformResponse, RateLimitHolds, send,
};
use nightdesk_port::Bot;
use nightdesk_types::{BotId, Clock};
use nightdesk_vault::Key;
use reqwest::multipart::Part;
use reqwest::{Method, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;

mod files;
mod limits;
mod refusal;

pub(crate) use files::UNNAMED;
pub(crate) use refusal::{GONE, UNKNOWN_MESSAGE};

use crate::{API_URL, CDN_URL};
use limits::{rate_limit_group, read_limit};

/// The user agent, in the form that Discord requires.
const CALLER: &str = concat!("DiscordBot (https://nightdesk.dev, ", env!("CARGO_PKG_VERSION"), ")");

/// A request to Discord. The path consists of fixed words and ids.
#[derive(Clone, Debug)]
pub(crate) struct ApiCall {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
}

impl ApiCall {
    pub(crate) const fn new(method: Method, path: String) -> Self {
        Self { method, path, body: None }
    }

    pub(crate) fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn with_body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// The caller: a bot, or a key that has no bot yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApiCaller<'b> {
    bot: Option<BotId>,
    credential: Credential<'b>,
}

#[derive(Clone, Copy, Debug)]
enum Credential<'b> {
    Key(Option<&'b Key>),
    /// The path contains a token.
    Path,
}

impl<'b> From<&'b Bot> for ApiCaller<'b> {
    fn from(bot: &'b Bot) -> Self {
        Self { bot: Some(bot.id), credential: Credential::Key(bot.key.as_ref()) }
    }
}

impl<'b> From<&'b Key> for ApiCaller<'b> {
    fn from(key: &'b Key) -> Self {
        Self { bot: None, credential: Credential::Key(Some(key)) }
    }
}

impl ApiCaller<'_> {
    /// Returns the caller of a bot's calls that only their path authorizes.
    pub(crate) const fn by_path(bot: &Bot) -> Self {
        Self { bot: Some(bot.id), credential: Credential::Path }
    }

    /// Adds the authorization header. The error means that the key has the wrong form.
    fn authorize(&self, request: RequestBuilder) -> Result<RequestBuilder, PlatformCallError> {
        let Credential::Key(key) = self.credential else { return Ok(request) };
        let is_plain = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic());
        let write = |key: &str| HeaderValue::from_str(&format!("Bot {key}")).ok();
        let shown = key.and_then(|key| key.with(|key| write(key).filter(|_| is_plain(key))));
        let mut shown = shown.ok_or(PlatformCallError::NoKey)?;
        shown.set_sensitive(true);
        Ok(request.header(AUTHORIZATION, shown))
    }
}

/// The client of Discord's REST API.
pub(crate) struct Api {
    client: HttpClient,
    base: BaseUrl,
    /// Base URL of files.
    cdn: BaseUrl,
    holds: RateLimitHolds,
    clock: Arc<dyn Clock>,
}

impl Api {
    /// Creates the one client that makes all calls.
    pub(crate) fn open(base: &str, cdn: &str, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Ok(Self {
            base: BaseUrl::parse(base, API_URL)?,
            cdn: BaseUrl::parse(cdn, CDN_URL)?,
            client: HttpClient::open()?,
            holds: RateLimitHolds::default(),
            clock,
        })
    }

    /// Makes one call and parses the response.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        caller: impl Into<ApiCaller<'_>>,
        call: ApiCall,
    ) -> Result<T, PlatformCallError> {
        self.send(caller, call).await?.json()
    }

    /// Makes one call that uploads a file, and parses the response.
    pub(crate) async fn upload<T: DeserializeOwned>(
        &self,
        bot: &Bot,
        call: ApiCall,
        file: Part,
    ) -> Result<T, PlatformCallError> {
        let body = call.body.clone().unwrap_or_default();
        let request = files::multipart_request(self.request(&call)?, &body, file);
        self.send_request(bot.into(), &call, request).await?.json()
    }

    /// Makes one call.
    pub(crate) async fn send(
        &self,
        caller: impl Into<ApiCaller<'_>>,
        call: ApiCall,
    ) -> Result<PlatformResponse, PlatformCallError> {
        let request = self.request(&call)?;
        let request = match &call.body {
            Some(body) => request.json(body),
            None if call.method == Method::GET => request,
            None => request.header(CONTENT_LENGTH, 0),
        };
        self.send_request(caller.into(), &call, request).await
    }

    async fn send_request(
        &self,
        caller: ApiCaller<'_>,
        call: &ApiCall,
        request: RequestBuilder,
    ) -> Result<PlatformResponse, PlatformCallError> {
        let request = caller.authorize(request)?;
        if let Some(wait) = self.held_for(caller, call) {
            return Err(PlatformCallError::Held(wait));
        }
        let reply = send(request).await?;
        let refusal = (!reply.status.is_success()).then(|| refusal::parse_refusal(&reply));
        let limit = read_limit(call, &reply.headers, refusal.as_ref());
        self.holds.record_limit(caller.bot, limit, self.clock.moment());
        refusal.map_or(Ok(reply), |refusal| Err(PlatformCallError::Refused(refusal)))
    }

    fn held_for(&self, caller: ApiCaller<'_>, call: &ApiCall) -> Option<Duration> {
        self.holds.remaining_hold(caller.bot, rate_limit_group(call), self.clock.moment())
    }

    fn request(&self, call: &ApiCall) -> Result<RequestBuilder, PlatformCallError> {
        let url = self.base.join(&format!("api/v10/{}", call.path));
        let url = url.ok_or_else(|| PlatformCallError::NotSent("the URL is invalid".into()))?;
        Ok(self.client.request(call.method.clone(), url).header(USER_AGENT, CALLER))
    }
}

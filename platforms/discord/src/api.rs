//! Makes single calls to Discord and interprets the responses.
//!
//! Discord's error texts are discarded, because they may quote the request. The token of an interaction is part of the
//! URL, so no URL is in any error or log.
//!
//! A client library would retry rate-limited calls without an end, read responses of any length, and log URLs. The
//! adapter needs only a dozen calls.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue, USER_AGENT};
use nightdesk_port::{Bot, File};
use nightdesk_types::limits::PLATFORM_CALL_WAIT;
use nightdesk_types::{BotId, Clock};
use nightdesk_vault::Key;
use reqwest::{Client, Method, RequestBuilder, Response, Url, redirect};
use serde::de::DeserializeOwned;
use serde_json::Value;

mod files;
mod holds;
mod refusal;

pub(crate) use files::UNNAMED;
pub(crate) use refusal::{Refusal, UNKNOWN_MESSAGE};

use holds::{Holds, RateLimit};

const CONNECT_WAIT: Duration = Duration::from_secs(3);
const ANSWER_WAIT: Duration = Duration::from_secs(15);

/// Maximum bytes that are read of a response. Responses are not compressed, so they cannot expand.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The user agent, in the form that Discord requires.
const CALLER: &str = concat!("DiscordBot (https://nightdesk.dev, ", env!("CARGO_PKG_VERSION"), ")");

const _: () = assert!(
    CONNECT_WAIT.as_secs() < ANSWER_WAIT.as_secs()
        && ANSWER_WAIT.as_secs() < PLATFORM_CALL_WAIT.as_secs(),
    "a call gives up by itself, and knows why",
);

/// Failures of a call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the bot has no key of Discord's form")]
    NoKey,
    #[error("Discord wants to be left alone for a while")]
    Held(Duration),
    #[error("Discord was not reached")]
    NotSent(#[source] Box<dyn Error + Send + Sync>),
    #[error("Discord's answer did not come back")]
    Unanswered(#[source] Box<dyn Error + Send + Sync>),
    #[error("Discord said no: {0}")]
    Refused(Refusal),
}

/// Invalid configuration of Discord's addresses.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The API address must be one to which a path can be added.
    #[error("the address of Discord is not one of the form https://discord.com")]
    Address,
    /// The gateway address must be a WebSocket URL.
    #[error("the address of Discord's gateway is not one of the form wss://gateway.discord.gg")]
    Gateway,
    /// The HTTP client could not be created.
    #[error("could not make a client for Discord")]
    Client(#[source] reqwest::Error),
}

/// A request to Discord. The path consists of fixed words and ids.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    /// A file to upload.
    pub(crate) file: Option<File>,
}

impl Call {
    pub(crate) const fn new(method: Method, path: String) -> Self {
        Self { method, path, body: None, file: None }
    }

    pub(crate) fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn with(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(crate) fn giving(self, file: File) -> Self {
        Self { file: Some(file), ..self }
    }
}

/// The caller: a bot, or a key that has no bot yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'b> {
    bot: Option<BotId>,
    key: Option<&'b Key>,
}

impl<'b> From<&'b Bot> for Caller<'b> {
    fn from(bot: &'b Bot) -> Self {
        Self { bot: Some(bot.id), key: bot.key.as_ref() }
    }
}

impl<'b> From<&'b Key> for Caller<'b> {
    fn from(key: &'b Key) -> Self {
        Self { bot: None, key: Some(key) }
    }
}

impl Caller<'_> {
    /// Returns the authorization header, or an error if the key has the wrong form.
    fn shown(&self) -> Result<HeaderValue, CallError> {
        let is_plain = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic());
        let write = |key: &str| HeaderValue::from_str(&format!("Bot {key}")).ok();
        let shown = self.key.and_then(|key| key.with(|key| write(key).filter(|_| is_plain(key))));
        let mut shown = shown.ok_or(CallError::NoKey)?;
        shown.set_sensitive(true);
        Ok(shown)
    }
}

/// The client of Discord's REST API.
pub(crate) struct Api {
    client: Client,
    base: Url,
    /// Base URL of files.
    cdn: Url,
    holds: Holds,
    clock: Arc<dyn Clock>,
}

impl Api {
    /// Creates the one client that makes all calls.
    pub(crate) fn open(base: &str, cdn: &str, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let (base, cdn) = (address(base)?, address(cdn)?);
        let client = Client::builder()
            .connect_timeout(CONNECT_WAIT)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(OpenError::Client)?;
        Ok(Self { client, base, cdn, holds: Holds::default(), clock })
    }

    /// Makes one call as the bot and parses the response.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        caller: impl Into<Caller<'_>>,
        call: Call,
    ) -> Result<T, CallError> {
        let caller = caller.into();
        let request = self.request(&call)?.header(AUTHORIZATION, caller.shown()?);
        answer(&self.asked(caller, &call, request).await?)
    }

    /// Makes one call as the bot and ignores the response body.
    pub(crate) async fn done(
        &self,
        caller: impl Into<Caller<'_>>,
        call: Call,
    ) -> Result<(), CallError> {
        let caller = caller.into();
        let request = self.request(&call)?.header(AUTHORIZATION, caller.shown()?);
        self.asked(caller, &call, request).await.map(drop)
    }

    /// Makes one call that is authorized only by its path.
    pub(crate) async fn bare<T: DeserializeOwned>(
        &self,
        bot: &Bot,
        call: Call,
    ) -> Result<T, CallError> {
        let request = self.request(&call)?;
        answer(&self.asked(bot.into(), &call, request).await?)
    }

    /// Makes one call that is authorized only by its path and ignores the response body.
    pub(crate) async fn said(&self, bot: &Bot, call: Call) -> Result<(), CallError> {
        let request = self.request(&call)?;
        self.asked(bot.into(), &call, request).await.map(drop)
    }

    fn request(&self, call: &Call) -> Result<RequestBuilder, CallError> {
        let base = self.base.as_str().trim_end_matches('/');
        let url = Url::parse(&format!("{base}/api/v10/{}", call.path));
        let url = url.map_err(|_| CallError::NotSent("the address is none".into()))?;
        let request = self.client.request(call.method.clone(), url).timeout(ANSWER_WAIT);
        let request = request.header(USER_AGENT, CALLER);
        Ok(match (&call.body, &call.file) {
            (Some(body), Some(file)) => files::giving(request, body, file.clone()),
            (Some(body), None) => request.json(body),
            (None, _) if call.method == Method::GET => request,
            (None, _) => request.header(CONTENT_LENGTH, 0),
        })
    }

    async fn asked(
        &self,
        caller: Caller<'_>,
        call: &Call,
        request: RequestBuilder,
    ) -> Result<Vec<u8>, CallError> {
        if let Some(wait) = self.holds.held(caller.bot, call, self.clock.moment()) {
            return Err(CallError::Held(wait));
        }
        let response = request.send().await.map_err(unanswered)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = body(response).await?;
        let refusal = (!status.is_success()).then(|| Refusal::read(status, &headers, &body));
        let limit = RateLimit::read(call, &headers, refusal.as_ref());
        self.holds.note(caller.bot, limit, self.clock.moment());
        refusal.map_or(Ok(body), |refusal| Err(CallError::Refused(refusal)))
    }
}

/// Parses a URL to which a path can be added.
fn address(text: &str) -> Result<Url, OpenError> {
    let is_plain = |url: &Url| {
        let is_bare = url.query().is_none() && url.fragment().is_none();
        is_bare && matches!(url.scheme(), "https" | "http")
    };
    Url::parse(text).ok().filter(is_plain).ok_or(OpenError::Address)
}

/// Converts a client error. The call was certainly not executed only if there was no connection.
fn unanswered(error: reqwest::Error) -> CallError {
    let not_sent = error.is_connect() || error.is_builder();
    let source = error.without_url().into();
    if not_sent { CallError::NotSent(source) } else { CallError::Unanswered(source) }
}

fn answer<T: DeserializeOwned>(body: &[u8]) -> Result<T, CallError> {
    let odd = |_| CallError::Unanswered("it is not what was asked for".into());
    serde_json::from_slice(body).map_err(odd)
}

async fn body(mut response: Response) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unanswered)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(CallError::Unanswered("it is too long".into()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

//! Makes single calls to Telegram and interprets the responses.
//!
//! The bot's key is part of every URL, so no URL is in any error. Telegram's error texts are discarded, because they
//! may quote the request.

use std::error::Error;
use std::time::Duration;

use nightdesk_port::File;
use nightdesk_types::limits::PLATFORM_CALL_WAIT;
use nightdesk_vault::Key;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

mod refusal;

pub(crate) use refusal::{Reason, Refusal};

const CONNECT_WAIT: Duration = Duration::from_secs(3);
const ANSWER_WAIT: Duration = Duration::from_secs(15);

/// Maximum bytes that are read of a response. Responses are not compressed, so they cannot expand.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

const _: () = assert!(
    CONNECT_WAIT.as_secs() < ANSWER_WAIT.as_secs()
        && ANSWER_WAIT.as_secs() < PLATFORM_CALL_WAIT.as_secs(),
    "a call gives up by itself, and knows why",
);

/// Failures of a call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the bot has no key of Telegram's form")]
    NoKey,
    #[error("Telegram was not reached")]
    NotSent(#[source] Box<dyn Error + Send + Sync>),
    #[error("Telegram's answer did not come back")]
    Unanswered(#[source] Box<dyn Error + Send + Sync>),
    #[error("Telegram said no: {0}")]
    Refused(Refusal),
}

/// Invalid configuration of Telegram's address.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address must be one to which a path can be added.
    #[error("the address of Telegram is not one of the form https://api.telegram.org")]
    Address,
    /// The HTTP client could not be created.
    #[error("could not make a client for Telegram")]
    Client(#[source] reqwest::Error),
}

/// A file to upload.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// The name of the file's field.
    pub(crate) field: &'static str,
    pub(crate) file: File,
}

/// The client of the Bot API.
#[derive(Debug)]
pub(crate) struct Api {
    client: Client,
    base: Url,
}

impl Api {
    /// Creates the one client that makes all calls.
    pub(crate) fn open(base: &str) -> Result<Self, OpenError> {
        let base = Url::parse(base).map_err(|_| OpenError::Address)?;
        let is_plain = base.query().is_none() && base.fragment().is_none();
        if !matches!(base.scheme(), "https" | "http") || !is_plain {
            return Err(OpenError::Address);
        }
        let client = Client::builder()
            .connect_timeout(CONNECT_WAIT)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(OpenError::Client)?;
        Ok(Self { client, base })
    }

    /// Makes one call.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        key: Option<&Key>,
        method: &str,
        asked: &Value,
    ) -> Result<T, CallError> {
        self.call_within(ANSWER_WAIT, key, method, asked).await
    }

    /// Makes one call with another time limit.
    pub(crate) async fn call_within<T: DeserializeOwned>(
        &self,
        wait: Duration,
        key: Option<&Key>,
        method: &str,
        asked: &Value,
    ) -> Result<T, CallError> {
        let url = self.address(key, method).ok_or(CallError::NoKey)?;
        let request = self.client.post(url).timeout(wait).json(asked);
        answer(request.send().await.map_err(unanswered)?).await
    }

    /// Makes one call that uploads a file.
    pub(crate) async fn upload<T: DeserializeOwned>(
        &self,
        key: Option<&Key>,
        method: &str,
        asked: &Value,
        upload: Upload,
    ) -> Result<T, CallError> {
        let url = self.address(key, method).ok_or(CallError::NoKey)?;
        let request = self.client.post(url).timeout(ANSWER_WAIT).multipart(form(asked, upload));
        answer(request.send().await.map_err(unanswered)?).await
    }

    /// Begins to download a file.
    pub(crate) async fn download(
        &self,
        key: Option<&Key>,
        path: &str,
    ) -> Result<Response, CallError> {
        // The path is part of a URL with the key, so it must not change the URL's structure.
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/_.-".contains(&b);
        if !path.bytes().all(is_plain) || path.contains("..") {
            return Err(CallError::Unanswered("it names no file".into()));
        }
        let url = self.at(key, |base, key| format!("{base}/file/bot{key}/{path}"));
        let request = self.client.get(url.ok_or(CallError::NoKey)?);
        let answer = timeout(ANSWER_WAIT, request.send()).await;
        let answer = answer.map_err(|late| CallError::Unanswered(late.into()))?;
        let answer = answer.map_err(unanswered)?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            status => Err(CallError::Refused(Refusal::read(status, b""))),
        }
    }

    fn address(&self, key: Option<&Key>, method: &str) -> Option<Url> {
        self.at(key, |base, key| format!("{base}/bot{key}/{method}"))
    }

    fn at(&self, key: Option<&Key>, address: impl Fn(&str, &str) -> String) -> Option<Url> {
        let base = self.base.as_str().trim_end_matches('/');
        let address = key?.with(|key| is_key(key).then(|| address(base, key)))?;
        Url::parse(&address).ok()
    }
}

/// Builds a multipart form. Values that are not strings are written as JSON.
fn form(asked: &Value, upload: Upload) -> Form {
    let Upload { field, file } = upload;
    let fields = asked.as_object().into_iter().flatten();
    let form = fields.fold(Form::new(), |form, (name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        form.text(name.clone(), text)
    });
    let File { bytes, mime, filename } = file;
    let part = || {
        let part = Part::stream_with_length(bytes.clone(), bytes.len() as u64);
        part.file_name(filename.clone().unwrap_or_else(|| field.to_owned()))
    };
    // If the MIME type is invalid, Telegram detects it.
    let typed = part().mime_str(mime.as_deref().unwrap_or_default());
    form.part(field, typed.unwrap_or_else(|_| part()))
}

/// Returns true if a key has Telegram's format, so that it cannot change the URL's structure.
fn is_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    key.split_once(':').is_some_and(|(id, secret)| {
        !id.is_empty()
            && id.bytes().all(|b| b.is_ascii_digit())
            && !secret.is_empty()
            && secret.bytes().all(plain)
    })
}

/// Converts a client error. The call was certainly not executed only if there was no connection.
fn unanswered(error: reqwest::Error) -> CallError {
    let not_sent = error.is_connect() || error.is_builder();
    let source = error.without_url().into();
    if not_sent { CallError::NotSent(source) } else { CallError::Unanswered(source) }
}

#[derive(Deserialize)]
struct Answer<T> {
    result: T,
}

#[derive(Deserialize)]
struct Verdict {
    ok: bool,
    error_code: Option<u16>,
}

async fn answer<T: DeserializeOwned>(response: Response) -> Result<T, CallError> {
    let status = response.status();
    let body = body(response).await?;
    // Invalid UTF-8 affects only its own field.
    let body = String::from_utf8_lossy(&body);
    let verdict: Option<Verdict> = serde_json::from_str(&body).ok();
    // Some servers refuse with a success status.
    let no = verdict.as_ref().filter(|verdict| !verdict.ok).and_then(|verdict| verdict.error_code);
    let status = no.and_then(|no| StatusCode::from_u16(no).ok()).unwrap_or(status);
    if status != StatusCode::OK {
        return Err(CallError::Refused(Refusal::read(status, body.as_bytes())));
    }
    let answer =
        verdict.filter(|verdict| verdict.ok).and_then(|_| serde_json::from_str(&body).ok());
    let result = answer.map(|answer: Answer<T>| answer.result);
    result.ok_or_else(|| CallError::Unanswered("it is not what was asked for".into()))
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

#[cfg(test)]
mod tests;

//! Makes single calls to Telegram and interprets the responses.
//!
//! The bot's key is part of every URL, so no URL is in any error. Telegram's error texts are discarded, because they
//! may quote the request.

use std::time::Duration;

use nightdesk_kit::{
    BaseUrl, HttpClient, OpenError, PlatformCallError, PlatformResponse, file_part, send,
};
use nightdesk_port::{File, FileContent};
use nightdesk_vault::Key;
use reqwest::multipart::Form;
use reqwest::{Method, RequestBuilder, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::API_URL;

mod refusal;

pub(crate) use refusal::{MARKUP_CODES, NOT_MODIFIED};

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
    client: HttpClient,
    base: BaseUrl,
}

impl Api {
    /// Creates the one client that makes all calls.
    pub(crate) fn open(base: &str) -> Result<Self, OpenError> {
        Ok(Self { base: BaseUrl::parse(base, API_URL)?, client: HttpClient::open()? })
    }

    /// Makes one call.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        key: Option<&Key>,
        method: &str,
        asked: &Value,
    ) -> Result<T, PlatformCallError> {
        parse_response(&send(self.request(key, method)?.json(asked)).await?)
    }

    /// Makes one call with another time limit.
    pub(crate) async fn call_within<T: DeserializeOwned>(
        &self,
        wait: Duration,
        key: Option<&Key>,
        method: &str,
        asked: &Value,
    ) -> Result<T, PlatformCallError> {
        parse_response(&send(self.request(key, method)?.timeout(wait).json(asked)).await?)
    }

    /// Makes one call that uploads a file.
    pub(crate) async fn upload<T: DeserializeOwned>(
        &self,
        key: Option<&Key>,
        method: &str,
        asked: &Value,
        upload: Upload,
    ) -> Result<T, PlatformCallError> {
        let request = self.request(key, method)?;
        parse_response(&send(request.multipart(form(asked, upload).await?)).await?)
    }

    /// Begins to download a file.
    pub(crate) async fn download(
        &self,
        key: Option<&Key>,
        path: &str,
    ) -> Result<FileContent, PlatformCallError> {
        // The path is part of a URL with the key, so it must not change the URL's structure.
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/_.-".contains(&b);
        if !path.bytes().all(is_plain) || path.contains("..") {
            return Err(PlatformCallError::Unanswered("the path names no file".into()));
        }
        let url = self.key_url(key, |key| format!("file/bot{key}/{path}"));
        self.client.download(url.ok_or(PlatformCallError::NoKey)?).await
    }

    fn request(
        &self,
        key: Option<&Key>,
        method: &str,
    ) -> Result<RequestBuilder, PlatformCallError> {
        let url = self.key_url(key, |key| format!("bot{key}/{method}"));
        Ok(self.client.request(Method::POST, url.ok_or(PlatformCallError::NoKey)?))
    }

    fn key_url(&self, key: Option<&Key>, path: impl Fn(&str) -> String) -> Option<Url> {
        key?.with(|key| is_key(key).then(|| self.base.join(&path(key)))?)
    }
}

/// Builds a multipart form. Values that are not strings are written as JSON.
async fn form(asked: &Value, upload: Upload) -> Result<Form, PlatformCallError> {
    let fields = asked.as_object().into_iter().flatten();
    let form = fields.fold(Form::new(), |form, (name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        form.text(name.clone(), text)
    });
    Ok(form.part(upload.field, file_part(&upload.file, upload.field).await?))
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

#[derive(Deserialize)]
struct ApiResult<T> {
    result: T,
}

#[derive(Deserialize)]
struct ApiStatus {
    ok: bool,
    error_code: Option<u16>,
}

fn parse_response<T: DeserializeOwned>(reply: &PlatformResponse) -> Result<T, PlatformCallError> {
    // Invalid UTF-8 affects only its own field.
    let body = String::from_utf8_lossy(&reply.body);
    let verdict: Option<ApiStatus> = serde_json::from_str(&body).ok();
    // Some servers refuse with a success status.
    let no = verdict.as_ref().filter(|verdict| !verdict.ok).and_then(|verdict| verdict.error_code);
    let status = no.and_then(|no| StatusCode::from_u16(no).ok()).unwrap_or(reply.status);
    if status != StatusCode::OK {
        return Err(PlatformCallError::Refused(refusal::parse_refusal(status, &body)));
    }
    let answer =
        verdict.filter(|verdict| verdict.ok).and_then(|_| serde_json::from_str(&body).ok());
    answer.map(|answer: ApiResult<T>| answer.result).ok_or_else(PlatformCallError::unreadable)
}

#[cfg(test)]
mod tests;

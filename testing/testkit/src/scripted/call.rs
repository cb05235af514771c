//! Makes one request to a test's server, and interprets the response.

use std::time::Duration;

use futures_util::TryStreamExt;
use nightdesk_port::{Bot, ChatInfo, DeliverError, File, Receipt};
use nightdesk_types::Send;
use nightdesk_types::limits::PLATFORM_CALL_WAIT;
use nightdesk_vault::Key;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const CONNECT_WAIT: Duration = Duration::from_secs(3);
const ANSWER_WAIT: Duration = Duration::from_secs(15);
const ANSWER_BYTES_MAX: usize = 64 * 1024;
const CODE_BYTES_MAX: usize = 64;

/// Retry delay of a rate limit without a time.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

const _: () = assert!(
    CONNECT_WAIT.as_secs() < ANSWER_WAIT.as_secs()
        && ANSWER_WAIT.as_secs() < PLATFORM_CALL_WAIT.as_secs(),
    "a call gives up by itself, and knows why",
);

pub(super) fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .connect_timeout(CONNECT_WAIT)
        .timeout(ANSWER_WAIT)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build()
}

#[derive(Serialize)]
struct Call<'a> {
    bot: &'a str,
    send: &'a Send,
    #[serde(skip_serializing_if = "Option::is_none")]
    capability: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Value>,
}

/// Capability and file of a call.
#[derive(Default)]
pub(super) struct Aid<'a> {
    pub(super) capability: Option<&'a Key>,
    pub(super) file: Option<&'a File>,
}

/// Reads the whole file: a test's files are small.
async fn shown(file: &File) -> Result<Value, DeliverError> {
    let File { source, mime, filename } = file;
    let bytes: Result<Vec<_>, _> = source.open().await?.bytes.try_collect().await;
    let bytes = bytes.map_err(DeliverError::Unavailable)?.concat();
    let text = String::from_utf8_lossy(&bytes);
    Ok(json!({ "text": text, "mime": mime, "filename": filename }))
}

/// Makes one call.
pub(super) async fn make(
    client: &Client,
    url: Url,
    (bot, send): (&Bot, &Send),
    Aid { capability, file }: Aid<'_>,
) -> Result<Receipt, DeliverError> {
    let capability = capability.map(|lent| lent.with(str::to_owned));
    let file = match file {
        Some(file) => Some(shown(file).await?),
        None => None,
    };
    let call = Call { bot: &bot.handle, send, capability, file };
    let answer = client.post(url).json(&call).send().await.map_err(unanswered)?;
    let status = answer.status();
    match status {
        StatusCode::OK => receipt(answer, send).await,
        StatusCode::TOO_MANY_REQUESTS => {
            Err(DeliverError::RateLimited { retry_after: retry_after(&answer) })
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(DeliverError::KeyRejected),
        _ if status.is_client_error() => {
            Err(DeliverError::Refused { platform_code: code(answer).await })
        }
        _ => Err(DeliverError::Ambiguous(format!("the platform answered {status}").into())),
    }
}

/// Maps an error of a call. Without a connection the call was certainly not executed.
fn unanswered(error: reqwest::Error) -> DeliverError {
    // The URL belongs to the bot's operator, and other tenants may see this error.
    let not_sent = error.is_connect() || error.is_builder();
    let source = error.without_url().into();
    if not_sent { DeliverError::Unavailable(source) } else { DeliverError::Ambiguous(source) }
}

#[derive(Deserialize)]
struct Answer {
    message_id: Option<String>,
    thread_id: Option<String>,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

async fn receipt(answer: Response, send: &Send) -> Result<Receipt, DeliverError> {
    let body = body(answer).await.map_err(|error| DeliverError::Ambiguous(error.into()))?;
    let Ok(Answer { message_id, thread_id, name, kind }) = serde_json::from_slice(&body) else {
        return Err(DeliverError::Ambiguous("the platform's answer is not a receipt".into()));
    };
    let chat = (name.is_some() || kind.is_some()).then(|| ChatInfo {
        name: name.unwrap_or_else(|| send.chat_id.clone()),
        kind: kind.unwrap_or_else(|| "dm".to_owned()),
    });
    Ok(Receipt { message_id, thread_id, chat, is_plain: false })
}

#[derive(Deserialize)]
struct Refused {
    code: String,
}

/// Returns the platform's code of a refusal if it is a plain code, otherwise the status.
async fn code(answer: Response) -> String {
    let status = answer.status().as_u16().to_string();
    let body = body(answer).await.unwrap_or_default();
    let refused = serde_json::from_slice::<Refused>(&body);
    refused.ok().map(|refused| refused.code).filter(|code| is_plain_code(code)).unwrap_or(status)
}

/// Returns true if a code is plain. It goes into errors and logs, so it may not carry a text.
fn is_plain_code(code: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    !code.is_empty() && code.len() <= CODE_BYTES_MAX && code.bytes().all(plain)
}

fn retry_after(answer: &Response) -> Duration {
    let header = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let secs = header.and_then(|text| text.trim().parse().ok());
    secs.map_or(RETRY_AFTER_DEFAULT, Duration::from_secs)
}

#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("the platform's answer broke off")]
    Broken(#[source] reqwest::Error),
    #[error("the platform's answer is too long")]
    TooLong,
}

async fn body(mut answer: Response) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    let broken = |error: reqwest::Error| BodyError::Broken(error.without_url());
    while let Some(chunk) = answer.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(BodyError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

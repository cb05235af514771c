//! Uploads files with a call, and downloads them.

use nightdesk_port::File;
use reqwest::multipart::{Form, Part};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::timeout;

use super::{ANSWER_WAIT, Api, CallError, Refusal, unanswered};

/// Name of a file without a name.
pub(crate) const UNNAMED: &str = "file";

/// Base URL of animated pictures.
const MOVING_URL: &str = "https://media.discordapp.net";

/// Builds a multipart request from the JSON body and the file.
pub(super) fn giving(request: RequestBuilder, asked: &Value, file: File) -> RequestBuilder {
    let File { bytes, mime, filename } = file;
    let part = || {
        let part = Part::stream_with_length(bytes.clone(), bytes.len() as u64);
        part.file_name(filename.clone().unwrap_or_else(|| UNNAMED.to_owned()))
    };
    // If the MIME type is invalid, Discord detects it.
    let typed = part().mime_str(mime.as_deref().unwrap_or_default());
    let form = Form::new().text("payload_json", asked.to_string());
    request.multipart(form.part("files[0]", typed.unwrap_or_else(|_| part())))
}

impl Api {
    /// Begins to download a file without a key. The address must be one of Discord's file servers.
    pub(crate) async fn download(&self, address: &str) -> Result<Response, CallError> {
        let is_theirs = |url: &Url| {
            url.origin() == self.cdn.origin() || address.starts_with(&format!("{MOVING_URL}/"))
        };
        let url = Url::parse(address).ok().filter(is_theirs);
        let url = url.ok_or_else(|| CallError::Unanswered("it names no file".into()))?;
        let answer = timeout(ANSWER_WAIT, self.client.get(url).send()).await;
        let answer = answer.map_err(|late| CallError::Unanswered(late.into()))?;
        let answer = answer.map_err(unanswered)?;
        match answer.status() {
            StatusCode::OK => Ok(answer),
            status => Err(CallError::Refused(Refusal::read(status, answer.headers(), b""))),
        }
    }

    /// Returns the URL of a sticker's picture.
    pub(crate) fn sticker(&self, name: &str) -> String {
        let ending = name.rsplit('.').next();
        let base = if ending == Some("gif") { MOVING_URL } else { self.cdn.as_str() };
        format!("{}/stickers/{name}", base.trim_end_matches('/'))
    }
}

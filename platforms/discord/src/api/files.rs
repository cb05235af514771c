//! Uploads files with a call, and downloads them.

use nightdesk_kit::PlatformCallError;
use nightdesk_port::FileContent;
use reqwest::multipart::{Form, Part};
use reqwest::{RequestBuilder, Url};
use serde_json::Value;

use super::Api;

/// Name of a file without a name.
pub(crate) const UNNAMED: &str = "file";

/// Base URL of animated pictures.
const MOVING_URL: &str = "https://media.discordapp.net";

/// Builds a multipart request from the JSON body and the file.
pub(super) fn multipart_request(
    request: RequestBuilder,
    asked: &Value,
    file: Part,
) -> RequestBuilder {
    let form = Form::new().text("payload_json", asked.to_string());
    request.multipart(form.part("files[0]", file))
}

impl Api {
    /// Begins to download a file without a key. The address must be one of Discord's file servers.
    pub(crate) async fn download(&self, address: &str) -> Result<FileContent, PlatformCallError> {
        let is_theirs = |url: &Url| {
            self.cdn.is_origin_of(url) || address.starts_with(&format!("{MOVING_URL}/"))
        };
        let url = Url::parse(address).ok().filter(is_theirs);
        let url =
            url.ok_or_else(|| PlatformCallError::Unanswered("the address names no file".into()))?;
        self.client.download(url).await
    }

    /// Returns the URL of a sticker's picture.
    pub(crate) fn sticker(&self, name: &str) -> String {
        let ending = name.rsplit('.').next();
        let base = if ending == Some("gif") { MOVING_URL } else { self.cdn.as_str() };
        format!("{base}/stickers/{name}")
    }
}

//! Makes HTTP calls to a platform's API.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use nightdesk_port::{File, FileContent};
use nightdesk_types::limits::PLATFORM_CALL_WAIT;
use reqwest::header::HeaderMap;
use reqwest::multipart::Part;
use reqwest::{Body, Client, Method, RequestBuilder, Response, StatusCode, Url, redirect};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::{OpenError, PlatformCallError, PlatformRefusal};

const CONNECT_WAIT: Duration = Duration::from_secs(3);
const ANSWER_WAIT: Duration = Duration::from_secs(15);

/// Maximum bytes that are read of a response. Responses are not compressed, so they cannot expand.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

const _: () = assert!(
    CONNECT_WAIT.as_secs() < ANSWER_WAIT.as_secs()
        && ANSWER_WAIT.as_secs() < PLATFORM_CALL_WAIT.as_secs(),
    "a call gives up by itself, and knows why",
);

/// An address to which a path can be added.
#[derive(Clone, Debug)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Parses an address. The error names an address of the right form.
    pub fn parse(text: &str, form: &'static str) -> Result<Self, OpenError> {
        let is_plain = |url: &Url| {
            let is_bare = url.query().is_none() && url.fragment().is_none();
            is_bare && matches!(url.scheme(), "https" | "http")
        };
        let url = Url::parse(text).ok().filter(is_plain);
        url.map(Self).ok_or(OpenError::Address { form })
    }

    /// Returns the address without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// Returns the URL of a path below the address.
    pub fn join(&self, path: &str) -> Option<Url> {
        Url::parse(&format!("{}/{path}", self.as_str())).ok()
    }

    /// Returns true if the URL is at the same server.
    pub fn is_origin_of(&self, url: &Url) -> bool {
        self.0.origin() == url.origin()
    }
}

/// The HTTP client of one platform's calls.
#[derive(Clone, Debug)]
pub struct HttpClient(Client);

impl HttpClient {
    /// Creates the client. It follows no redirects and uses no proxy.
    pub fn open() -> Result<Self, OpenError> {
        let client = Client::builder()
            .connect_timeout(CONNECT_WAIT)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build();
        client.map(Self).map_err(OpenError::Client)
    }

    /// Builds a request without a time limit, for a file.
    pub fn file_request(&self, url: Url) -> RequestBuilder {
        self.0.get(url)
    }

    /// Builds a request with the time limit of a call.
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.0.request(method, url).timeout(ANSWER_WAIT)
    }

    /// Begins to download a file. Only the beginning has a time limit.
    pub async fn download(&self, url: Url) -> Result<FileContent, PlatformCallError> {
        self.download_with(self.0.get(url)).await
    }

    /// Begins to download the file of a request of [`HttpClient::file_request`].
    pub async fn download_with(
        &self,
        request: RequestBuilder,
    ) -> Result<FileContent, PlatformCallError> {
        let response = timeout(ANSWER_WAIT, request.send()).await;
        let response = response.map_err(|late| PlatformCallError::Unanswered(late.into()))?;
        let response = response.map_err(PlatformCallError::from_client)?;
        match response.status() {
            // The error omits the URL, because the URL may give access to the file.
            StatusCode::OK => {
                let size = response.content_length();
                let bytes = response.bytes_stream().map_err(|error| error.without_url().into());
                Ok(FileContent { size, bytes: bytes.boxed() })
            }
            status => Err(PlatformCallError::Refused(PlatformRefusal::new(status, None, None))),
        }
    }
}

/// A response that was read to its end.
#[derive(Debug)]
pub struct PlatformResponse {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl PlatformResponse {
    /// Parses the body.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, PlatformCallError> {
        serde_json::from_slice(&self.body).map_err(|_| PlatformCallError::unreadable())
    }
}

/// Sends a request once and reads the response.
pub async fn send(request: RequestBuilder) -> Result<PlatformResponse, PlatformCallError> {
    let response = request.send().await.map_err(PlatformCallError::from_client)?;
    let (status, headers) = (response.status(), response.headers().clone());
    Ok(PlatformResponse { status, headers, body: read_body(response).await? })
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, PlatformCallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(PlatformCallError::from_client)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(PlatformCallError::Unanswered("the response is too long".into()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Builds the part of a form that uploads a file while it is read. A file without a name gets the default name.
pub async fn file_part(file: &File, default_name: &str) -> Result<Part, PlatformCallError> {
    let opened = file.source.open().await;
    let FileContent { size, bytes } = opened.map_err(PlatformCallError::File)?;
    let body = Body::wrap_stream(bytes);
    let part = match size {
        Some(size) => Part::stream_with_length(body, size),
        None => Part::stream(body),
    };
    let part = part.file_name(file.filename.clone().unwrap_or_else(|| default_name.to_owned()));
    // If the MIME type is invalid, the platform detects it.
    let is_mime = |mime: &&str| Part::text("").mime_str(mime).is_ok();
    match file.mime.as_deref().filter(is_mime) {
        Some(mime) => part.mime_str(mime).map_err(PlatformCallError::from_client),
        None => Ok(part),
    }
}

#[cfg(test)]
mod tests;

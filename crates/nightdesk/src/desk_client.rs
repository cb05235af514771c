//! The client of a desk's API, which the commands use.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nightdesk_kit::{BaseUrl, HttpClient};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::ui::CommandOutput;

/// Time for a response. Some routes call a platform or wait for an agent's answer.
const ANSWER_WAIT: Duration = Duration::from_mins(1);

/// Time for which a request is repeated while the desk cannot respond, as when its database restarts.
const BUSY_WAIT: Duration = Duration::from_secs(20);

/// Delay before each repetition.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// Longest response that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A desk, reached over HTTP by a user with a token.
#[derive(Debug)]
pub(crate) struct DeskClient {
    base: BaseUrl,
    http: HttpClient,
    authorization: Option<String>,
}

/// A request to a route. Each segment of the path is encoded, so a name may contain any character.
#[derive(Debug)]
pub(crate) struct ApiRequest<'a> {
    method: Method,
    path: Vec<&'a str>,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl<'a> ApiRequest<'a> {
    pub(crate) fn get(path: &[&'a str]) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn put(path: &[&'a str]) -> Self {
        Self::new(Method::PUT, path)
    }

    pub(crate) fn post(path: &[&'a str]) -> Self {
        Self::new(Method::POST, path)
    }

    pub(crate) fn delete(path: &[&'a str]) -> Self {
        Self::new(Method::DELETE, path)
    }

    fn new(method: Method, path: &[&'a str]) -> Self {
        Self { method, path: path.to_vec(), query: Vec::new(), body: None }
    }

    /// Adds a parameter, unless it is empty.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are passed alike")]
    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        let value = value.to_string();
        if !value.is_empty() {
            self.query.push((name, value));
        }
        self
    }

    /// Sets the JSON body.
    #[must_use]
    pub(crate) fn with_body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }
}

impl DeskClient {
    /// Opens the client of a desk at this URL.
    pub(crate) fn open(desk: &str, token: Option<&str>) -> anyhow::Result<Self> {
        let base = BaseUrl::parse(desk, "https://desk.example")?;
        let authorization = token.map(|token| format!("Bearer {token}"));
        Ok(Self { base, http: HttpClient::open()?, authorization })
    }

    /// Makes a request, and repeats it while the desk says that it cannot respond and changed nothing. Returns the JSON
    /// of the response, or null if it has none.
    pub(crate) async fn call(&self, request: ApiRequest<'_>) -> anyhow::Result<Value> {
        let give_up_at = Instant::now() + BUSY_WAIT;
        loop {
            let response = self.send(&request).await?;
            if response.status() != StatusCode::SERVICE_UNAVAILABLE || Instant::now() >= give_up_at
            {
                return self.read(response).await;
            }
            sleep(BUSY_PAUSE).await;
        }
    }

    async fn send(&self, request: &ApiRequest<'_>) -> anyhow::Result<Response> {
        let ApiRequest { method, path, query, body } = request;
        let url = self.url(path, query)?;
        let mut call = self.http.request(method.clone(), url).timeout(ANSWER_WAIT);
        if let Some(authorization) = &self.authorization {
            call = call.header(AUTHORIZATION, authorization);
        }
        if let Some(body) = body {
            call = call.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        call.send().await.with_context(|| {
            format!("no desk answers at {}; check --desk, and that a node runs", self.base.as_str())
        })
    }

    async fn read(&self, response: Response) -> anyhow::Result<Value> {
        let status = response.status();
        let body = read_body(response).await?;
        if status.is_success() {
            if body.is_empty() {
                return Ok(Value::Null);
            }
            return serde_json::from_slice(&body).context("the answer of the desk is not JSON");
        }
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        let detail = problem["detail"].as_str().unwrap_or(status.as_str());
        if status == StatusCode::UNAUTHORIZED && self.authorization.is_some() {
            bail!(
                "the desk does not accept the token any more; log in again with `nightdesk login`"
            );
        }
        if status == StatusCode::UNAUTHORIZED {
            bail!("log in first, with `nightdesk login --desk {}`", self.base.as_str());
        }
        bail!("{detail}")
    }

    /// Requests a list, and returns it as a table.
    pub(crate) async fn list(
        &self,
        request: ApiRequest<'_>,
        columns: &'static [&'static str],
    ) -> anyhow::Result<CommandOutput> {
        Ok(CommandOutput::Table { rows: self.rows(request).await?, columns })
    }

    /// Requests a list, and returns its rows.
    pub(crate) async fn rows(&self, request: ApiRequest<'_>) -> anyhow::Result<Vec<Value>> {
        let Value::Array(rows) = self.call(request).await? else {
            bail!("the answer of the desk is no list; is it of another release?");
        };
        Ok(rows)
    }

    fn url(&self, path: &[&str], query: &[(&'static str, String)]) -> anyhow::Result<Url> {
        // A URL would lose these segments, and lead to another route.
        let is_lost = |segment: &&str| matches!(*segment, "." | ".." | "");
        ensure!(!path.iter().any(is_lost), "a name must not be empty, a dot or two dots");
        let mut url = self.base.join("v1").context("--desk is no URL")?;
        url.path_segments_mut()
            .map_err(|()| anyhow::anyhow!("--desk is no URL of a server"))?
            .extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }
}

/// Reads the body of a response up to its maximum.
async fn read_body(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.context("the answer of the desk broke off")? {
        ensure!(body.len() + chunk.len() <= ANSWER_BYTES_MAX, "the answer of the desk is too long");
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_encoded_by_its_segments() {
        let client = DeskClient::open("https://desk.example.org/base/", None).unwrap();
        let query = [("after", "a&b".to_owned())];
        let url = client.url(&["tenants", "Bücher & Co", "agents", "a/b"], &query).unwrap();

        assert_eq!(
            url.as_str(),
            "https://desk.example.org/base/v1/tenants/B%C3%BCcher%20&%20Co/agents/a%2Fb?after=a%26b"
        );
        assert!(DeskClient::open("desk.example.org", None).is_err());
        for lost in ["", ".", ".."] {
            assert!(client.url(&["tenants", lost], &[]).is_err(), "{lost:?}");
        }
    }
}

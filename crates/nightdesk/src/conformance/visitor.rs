//! People in front of the trial desk's web chat.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, ensure};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::facts::{TrialFact, TrialNotebook};
use super::limits::{LOOK_EVERY, REQUEST_WAIT};
use super::wire::http::PlainHttp;

const LINE_OF_AGENT: &str = "<li class=\"line agent\"";
const LINE_END: &str = "</li>";

/// The page of a bot.
#[derive(Clone, Debug)]
pub(super) struct ChatAddress {
    pub(super) desk: SocketAddr,
    pub(super) path: String,
    /// The address from which its visitors come: the desk limits new visitors by address.
    pub(super) from: String,
}

impl ChatAddress {
    fn request(&self, first_line: String, body: &[u8]) -> PlainHttp {
        PlainHttp::new(first_line, body)
            .with_header("Host", &self.desk.to_string())
            .with_header("X-Forwarded-For", &self.from)
    }

    async fn call(&self, request: &PlainHttp) -> anyhow::Result<PlainHttp> {
        let response = timeout(REQUEST_WAIT, request.call(self.desk)).await;
        let response = response.context("the chat page did not respond")??;
        ensure!(response.is_success(), "the chat page responded with {}", response.first_line);
        Ok(response)
    }
}

/// A person with the page open.
#[derive(Clone, Debug)]
pub(super) struct PageVisitor {
    page: ChatAddress,
    cookie: String,
    chat: usize,
}

impl PageVisitor {
    /// Opens the page.
    pub(super) async fn open(page: &ChatAddress, chat: usize) -> anyhow::Result<Self> {
        let request = page.request(format!("GET /chat/{} HTTP/1.1", page.path), &[]);
        let response = page.call(&request).await?;
        let cookie = response.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        let cookie = cookie.context("the chat page set no cookie")?.to_owned();
        Ok(Self { page: page.clone(), cookie, chat })
    }

    /// The person's id on the platform, which is also the id of the chat.
    pub(super) fn id(&self) -> &str {
        let value = self.cookie.split('=').nth(1).unwrap_or_default();
        value.split('.').next().unwrap_or_default()
    }

    pub(super) async fn write(&self, text: &str, nonce: &str) -> anyhow::Result<()> {
        let body = json!({ "nonce": nonce, "text": text }).to_string();
        let first_line = format!("POST /chat/{}/messages HTTP/1.1", self.page.path);
        let request = self
            .page
            .request(first_line, body.as_bytes())
            .with_header("Cookie", &self.cookie)
            .with_header("Content-Type", "application/json");
        self.page.call(&request).await?;
        Ok(())
    }

    /// Notes the answers that appear on the page, until it is cancelled.
    #[expect(clippy::infinite_loop, reason = "the owner of the task ends it")]
    pub(super) async fn watch(self, notebook: Arc<TrialNotebook>) {
        let mut noted = BTreeSet::new();
        loop {
            // A page that cannot be read now is read again.
            for (number, line) in self.read().await.unwrap_or_default().iter().enumerate() {
                let Some(token) = notebook.token_in(line) else { continue };
                if noted.insert((number, token.clone())) {
                    notebook.record(TrialFact::Answer { chat: self.chat, token });
                }
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Returns the lines of the agent.
    async fn read(&self) -> anyhow::Result<Vec<String>> {
        let first_line = format!("GET /chat/{} HTTP/1.1", self.page.path);
        let request = self.page.request(first_line, &[]).with_header("Cookie", &self.cookie);
        let response = self.page.call(&request).await?;
        Ok(lines_of_agent(&String::from_utf8_lossy(&response.body)))
    }
}

fn lines_of_agent(page: &str) -> Vec<String> {
    let lines = page.split(LINE_OF_AGENT).skip(1);
    lines.map(|line| line.split(LINE_END).next().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_the_agent_are_answers() {
        let page = "<ol><li class=\"line visitor\" data-at=\"1\">a</li>\
                    <li class=\"line agent\" data-at=\"2\">b</li>\
                    <li class=\"line agent\" data-at=\"3\">c</li></ol><p>d</p>";

        assert_eq!(lines_of_agent(page), [" data-at=\"2\">b", " data-at=\"3\">c"]);
    }
}

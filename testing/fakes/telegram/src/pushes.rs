//! Posts updates to webhooks, in order and repeatedly until they are accepted.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Client;
use serde_json::Value;
use tokio::time::timeout;

use super::Shared;
use super::fault::{Kind, take};
use super::world::Webhook;

/// Retry delay of a post.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Timeout of a webhook.
const ANSWER_WAIT: Duration = Duration::from_mins(1);

/// Maximum number of concurrent posts.
const AT_ONCE_MAX: usize = 40;

const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";

#[expect(clippy::infinite_loop, reason = "the owner of its task ends it")]
pub(super) async fn push(shared: Shared) {
    let client = Client::builder().no_proxy().timeout(ANSWER_WAIT).build().unwrap_or_default();
    let mut changed = shared.changed.subscribe();
    loop {
        let tokens = shared.world().tokens();
        for token in tokens {
            push_all(&shared, &client, &token).await;
        }
        // In both cases it is time to poll again.
        drop(timeout(AGAIN_AFTER, changed.changed()).await);
    }
}

/// Posts a bot's waiting updates, up to the first that is not accepted.
async fn push_all(shared: &Shared, client: &Client, token: &str) {
    while let Some((webhook, batch, times)) = next(shared, token) {
        let posts = batch.iter().map(|(number, update)| {
            let (number, webhook) = (*number, &webhook);
            async move { (number, post(client, webhook, update, times).await) }
        });
        let posted = join_all(posts).await;
        let is_whole = posted.iter().all(|(_, error)| error.is_none());
        shared.change(|world| {
            let Some(bot) = world.bot_mut(token) else { return };
            for (number, error) in posted {
                match error {
                    None => bot.updates.retain(|(one, _)| *one != number),
                    Some(error) => {
                        if let Some(webhook) = &mut bot.webhook {
                            webhook.last_error = Some(error);
                        }
                    }
                }
            }
        });
        if !is_whole {
            return;
        }
    }
}

type Batch = (Webhook, Vec<(i64, Value)>, usize);

/// Returns the next posts: one update, or forty in the wrong order, once or twice.
fn next(shared: &Shared, token: &str) -> Option<Batch> {
    let mut world = shared.world();
    let bot = world.bot(token)?;
    let webhook = bot.webhook.clone()?;
    let mut waiting: Vec<_> = bot.updates.iter().take(AT_ONCE_MAX).cloned().collect();
    if waiting.is_empty() {
        return None;
    }
    let fault = take(&mut world.faults, "push");
    if fault == Some(Kind::OutOfOrder) {
        waiting.reverse();
    } else {
        waiting.truncate(1);
    }
    Some((webhook, waiting, if fault == Some(Kind::Repeat) { 2 } else { 1 }))
}

/// Posts an update once or twice. Returns the error, if there is one.
async fn post(client: &Client, webhook: &Webhook, update: &Value, times: usize) -> Option<String> {
    for _ in 0..times {
        let mut request = client.post(&webhook.url).json(update);
        if let Some(secret) = &webhook.secret {
            request = request.header(SECRET_HEADER, secret);
        }
        match request.send().await {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => {
                return Some(format!("Wrong response from the webhook: {}", answer.status()));
            }
            Err(_) => return Some("Connection refused".to_owned()),
        }
    }
    None
}

//! Posts signed interactions to the URL of an application.

use std::time::Duration;

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use bytes::Bytes;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::Shared;
use super::request::Asked;
use super::rest::take_answer;

/// Timeout of an endpoint.
const ANSWER_WAIT: Duration = Duration::from_secs(3);

const SIGNATURE: &str = "x-signature-ed25519";
const TIMESTAMP: &str = "x-signature-timestamp";

/// An application's key, derived from its id so that every run has the same.
#[derive(Debug)]
pub(super) struct SigningKey {
    pair: Option<Ed25519KeyPair>,
}

impl SigningKey {
    pub(super) fn of(application: u64) -> Self {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&application.to_be_bytes());
        Self { pair: Ed25519KeyPair::from_seed_unchecked(&seed).ok() }
    }

    pub(super) fn public_hex(&self) -> String {
        self.pair.as_ref().map(|pair| hex::encode(pair.public_key().as_ref())).unwrap_or_default()
    }

    /// Signs a body with a timestamp.
    pub(super) fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        let signed = [timestamp.as_bytes(), body].concat();
        self.pair.as_ref().map(|pair| hex::encode(pair.sign(&signed).as_ref())).unwrap_or_default()
    }
}

/// A signed body and its URL.
#[derive(Clone, Debug)]
struct Signed {
    url: String,
    timestamp: String,
    signature: String,
    body: String,
}

fn signed(shared: &Shared, application: u64, body: &Value) -> Option<Signed> {
    let world = shared.world();
    let bot = world.bots.values().find(|bot| bot.id == application)?;
    let timestamp = world.wall().as_second().to_string();
    let body = body.to_string();
    let signature = bot.key.sign(&timestamp, body.as_bytes());
    Some(Signed { url: bot.interactions_url.clone()?, timestamp, signature, body })
}

async fn post(client: &Client, signed: &Signed) -> Option<(u16, Bytes)> {
    let request = client.post(&signed.url).header(SIGNATURE, &signed.signature);
    let request = request.header(TIMESTAMP, &signed.timestamp);
    let request = request.header("content-type", "application/json").body(signed.body.clone());
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    Some((status, answer.bytes().await.ok()?))
}

fn client() -> Client {
    Client::builder().no_proxy().timeout(ANSWER_WAIT).build().unwrap_or_default()
}

/// Posts interactions as they arrive.
#[expect(clippy::infinite_loop, reason = "the owner of its task ends it")]
pub(super) async fn push(shared: Shared) {
    let client = client();
    let mut changed = shared.changed.subscribe();
    let mut posts = JoinSet::new();
    loop {
        let waiting: Vec<(u64, Value)> = shared.world().posts.drain(..).collect();
        for (application, interaction) in waiting {
            posts.spawn(hand_over(shared.clone(), client.clone(), application, interaction));
        }
        while posts.try_join_next().is_some() {}
        // The sender is in `shared`, so this ends only with the task.
        drop(changed.changed().await);
    }
}

/// Posts an interaction, and takes the response as its first answer.
async fn hand_over(shared: Shared, client: Client, application: u64, interaction: Value) {
    let Some(signed) = signed(&shared, application, &interaction) else { return };
    let Some((200, body)) = post(&client, &signed).await else { return };
    let Ok(body) = serde_json::from_slice(&body) else { return };
    let asked = Asked { body, ..Asked::default() };
    let id = interaction["id"].as_str().and_then(|id| id.parse().ok()).unwrap_or_default();
    // An invalid response leaves the interaction unanswered, and a test sees that.
    drop(shared.change(|world| take_answer(world, id, &asked)));
}

/// Tests an endpoint as Discord does before it accepts its URL: a ping with a valid signature must get a pong, and one
/// with an invalid signature a 401.
pub(super) async fn try_endpoint(shared: &Shared, application: u64) -> Result<(), String> {
    let client = client();
    let ping = json!({ "type": 1, "application_id": application.to_string() });
    let good = signed(shared, application, &ping).ok_or("no such endpoint")?;
    let bad = Signed { signature: good.signature.chars().rev().collect(), ..good.clone() };
    match post(&client, &bad).await {
        Some((401, _)) => {}
        other => return Err(format!("a bad signature was answered {:?}", other.map(|one| one.0))),
    }
    let (status, body) = post(&client, &good).await.ok_or("a ping was not answered")?;
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    if status != 200 || said["type"] != 1 {
        return Err(format!("a ping was answered {status} {said}"));
    }
    Ok(())
}

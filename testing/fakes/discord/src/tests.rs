//! Tests that the fake behaves as Discord's documentation says.

use std::sync::LazyLock;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::*;

mod gateway;
mod interactions;
mod messages;
mod permissions;
mod shard;

const TOKEN: &str = "a-token";
const BOT: u64 = 1_000 << 22;
const ANN: u64 = 2_000 << 22;
const GUILD: u64 = 3_000 << 22;
const GENERAL: u64 = GUILD + 1;
const HIDDEN: u64 = GUILD + 2;
const READ_ONLY: u64 = GUILD + 3;
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns overwrites that deny a permission to all members.
fn without(permission: u64) -> Value {
    json!([{ "id": GUILD.to_string(), "type": 0, "allow": "0", "deny": permission.to_string() }])
}

/// Starts a fake with a bot, a person and a guild.
async fn fake() -> FakeDiscord {
    let fake = FakeDiscord::start().await;
    fake.bot(TOKEN, BOT, "desk");
    fake.person(ANN, "ann");
    fake.guild(&json!({
        "id": GUILD.to_string(), "name": "Home", "members": [{ "user": { "id": ANN.to_string() } }],
        "channels": [
            { "id": GENERAL.to_string(), "name": "general" },
            { "id": HIDDEN.to_string(), "permission_overwrites": without(1 << 10) },
            { "id": READ_ONLY.to_string(), "permission_overwrites": without(1 << 11) },
        ],
    }));
    fake.join(TOKEN, GUILD);
    fake
}

/// One client for all tests, because its creation is slow. It pools nothing, since each test has its own runtime.
static CLIENT: LazyLock<Client> =
    LazyLock::new(|| Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap());

fn call(fake: &FakeDiscord, method: Method, path: &str) -> RequestBuilder {
    let request = CLIENT.request(method, format!("{}/api/v10{path}", fake.url()));
    request.header("authorization", format!("Bot {TOKEN}"))
}

/// Returns the status and the body.
async fn answer(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

async fn ask(fake: &FakeDiscord, method: Method, path: &str, body: &Value) -> (u16, Value) {
    answer(call(fake, method, path).json(body)).await
}

async fn get(fake: &FakeDiscord, path: &str) -> (u16, Value) {
    answer(call(fake, Method::GET, path)).await
}

async fn send(fake: &FakeDiscord, channel: u64, body: &Value) -> (u16, Value) {
    ask(fake, Method::POST, &format!("/channels/{channel}/messages"), body).await
}

#[tokio::test]
async fn a_bot_shows_its_token() {
    let fake = fake().await;

    assert_eq!(get(&fake, "/users/@me").await.1["id"], json!(BOT.to_string()));
    let (status, application) = get(&fake, "/applications/@me").await;
    assert_eq!((status, &application["verify_key"]), (200, &json!(fake.public_key(TOKEN))));
    let stranger = CLIENT.get(format!("{}/api/v10/users/@me", fake.url()));
    assert_eq!(answer(stranger.header("authorization", "Bot other")).await.0, 401);
}

#[tokio::test]
async fn every_answer_tells_its_limit() {
    let fake = fake().await;
    fake.settings(|settings| {
        settings.bucket_calls = 2;
        settings.bucket_window = Duration::from_mins(1);
    });
    let path = format!("/channels/{GENERAL}");

    let first = call(&fake, Method::GET, &path).send().await.unwrap();
    assert_eq!(first.headers()["x-ratelimit-limit"], "2");
    assert_eq!(first.headers()["x-ratelimit-remaining"], "1");
    let bucket = first.headers()["x-ratelimit-bucket"].clone();
    get(&fake, &path).await;
    let third = call(&fake, Method::GET, &path).send().await.unwrap();
    assert_eq!((third.status().as_u16(), &third.headers()["x-ratelimit-bucket"]), (429, &bucket));
    assert_eq!(third.headers()["x-ratelimit-scope"], "user");
    assert!(third.json::<Value>().await.unwrap()["retry_after"].as_f64().unwrap() > 50.0);
    assert_eq!(get(&fake, &format!("/channels/{READ_ONLY}")).await.0, 200, "it has its own window");
}

#[tokio::test]
async fn calls_go_wrong_on_command_and_only_so_often() {
    let fake = fake().await;
    fake.fault(Fault::at("GET /channels/{}", 1, Kind::TooMany { retry_after: 2.5, global: true }));
    fake.fault(Fault::at("GET /channels/{}", 1, Kind::Refuse { status: 503, code: 0 }));
    let path = format!("/channels/{GENERAL}");

    assert_eq!(get(&fake, "/users/@me").await.0, 200, "other calls go well");
    let (status, said) = get(&fake, &path).await;
    assert_eq!((status, &said["retry_after"], &said["global"]), (429, &json!(2.5), &json!(true)));
    assert_eq!(get(&fake, &path).await.0, 503);
    assert_eq!(get(&fake, &path).await.0, 200);
    fake.fault(Fault::at("POST /channels/{}/messages", 1, Kind::DoAndHangUp));
    let sent = call(&fake, Method::POST, &format!("{path}/messages"));
    assert!(sent.json(&json!({ "content": "hello" })).send().await.is_err(), "it hung up");
    assert_eq!(fake.messages(GENERAL).len(), 1, "and did it");
}

#[tokio::test]
async fn setting_commands_is_counted() {
    let fake = fake().await;
    assert_eq!(fake.calls_of("PUT /applications/{}/commands").len(), 0);

    let path = format!("/applications/{BOT}/commands");
    let tell = json!([{ "name": "tell", "description": "tells" }]);
    let (status, set) = ask(&fake, Method::PUT, &path, &tell).await;
    assert_eq!((status, &set[0]["name"]), (200, &json!("tell")));
    assert_eq!(fake.calls_of("PUT /applications/{}/commands").len(), 1);
    assert_eq!(fake.commands(BOT, None), ["tell"]);
    let (status, _) = ask(&fake, Method::PUT, &path, &json!([{ "name": "tell" }])).await;
    assert_eq!(status, 400, "a command says what it does");
}

//! Tests of attachments against the fake Discord.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use nightdesk_fake_discord::{FakeDiscord, Settings};
use nightdesk_port::{Deliver, DeliverError, File, FileSource, UnlimitedBudget};
use nightdesk_testkit::{FakeClock, memory_file};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use serde_json::{Map, json};

use super::*;
use crate::DiscordUrls;
use crate::tests::{TOKEN, bot};

const ANN: u64 = 900;
const GENERAL: u64 = 500;
const DAYS: Duration = Duration::from_hours(72);

async fn fake() -> (FakeDiscord, Discord) {
    let fake = FakeDiscord::start_with(Settings::default()).await.expect("a free port");
    fake.bot(TOKEN, 4242, "desk");
    fake.guild(&json!({
        "id": "70", "name": "Home", "owner_id": "1", "members": [],
        "channels": [{ "id": GENERAL.to_string(), "name": "general" }],
    }));
    fake.join(TOKEN, 70);
    let (api, gateway) = (fake.url(), fake.gateway_url());
    let at = DiscordUrls { api: &api, gateway: &gateway, cdn: &api };
    let discord = Discord::open(at, Arc::new(FakeClock::default()), Arc::new(UnlimitedBudget));
    (fake, discord.expect("addresses"))
}

async fn fetched(discord: &Discord, reference: &str) -> Result<String, FetchError> {
    let content = discord.fetch(&bot(), reference).await?;
    let bytes: Vec<_> = content.bytes.try_collect().await.expect("all of it");
    Ok(String::from_utf8(bytes.concat()).expect("a text"))
}

/// Sends a message with a file, and returns the message's id and the file's reference.
fn attach(fake: &FakeDiscord) -> (u64, String) {
    let files = json!([{ "name": "plan.txt", "text": "some words" }]);
    let message = fake.send(ANN, GENERAL, &json!({ "content": "see", "files": files }));
    let told = fake.messages(GENERAL).pop().expect("a message");
    let file = told["attachments"][0]["id"].as_str().expect("an id");
    (message, format!("discord-file:{GENERAL}/{message}/{file}"))
}

#[tokio::test]
async fn a_file_is_fetched_days_after_its_address_has_ended() {
    let (fake, discord) = fake().await;
    let (_, reference) = attach(&fake);
    let address = fake.messages(GENERAL)[0]["attachments"][0]["url"].as_str().unwrap().to_owned();
    assert_eq!(fetched(&discord, &reference).await.expect("a file"), "some words");

    fake.settings(|settings| settings.ahead_by = DAYS);
    assert!(discord.api.download(&address).await.is_err(), "its first address is over");
    assert_eq!(fetched(&discord, &reference).await.expect("a file"), "some words");
}

#[tokio::test]
async fn what_was_deleted_or_never_was_is_gone() {
    let (fake, discord) = fake().await;
    let (message, reference) = attach(&fake);
    let elsewhere = "https://elsewhere.example/plan.txt";
    for odd in [elsewhere, "discord-file:500/1", "discord-file:500/../1", "discord-sticker:1.exe"] {
        let gone = fetched(&discord, odd).await;
        assert!(matches!(gone, Err(FetchError::Gone)), "{odd}: {gone:?}");
    }
    let calls = fake.calls().len();
    assert_eq!(calls, 0, "what is no reference is asked of nobody");
    fake.delete(GENERAL, message);
    assert!(matches!(fetched(&discord, &reference).await, Err(FetchError::Gone)));
}

#[tokio::test]
async fn nothing_is_fetched_from_elsewhere() {
    let (_fake, discord) = fake().await;
    for odd in ["http://127.0.0.1:1/x", "file:///etc/passwd", "https://media.discordapp.net.evil/x"]
    {
        let unread = discord.api.download(odd).await;
        assert!(matches!(unread, Err(PlatformCallError::Unanswered(_))), "{odd}");
    }
}

fn given(bytes: usize) -> (Send, File) {
    let op = Op::SendMedia {
        media_kind: "document".to_owned(),
        source_url: String::new(),
        content: "see @everyone".to_owned(),
        reply_to: None,
        filename: Some("plan.txt".to_owned()),
    };
    let send = Send { chat_id: GENERAL.to_string(), op, metadata: Map::new() };
    let mime = Some("text/plain".to_owned());
    (send, File { mime, ..memory_file(vec![b'x'; bytes]) })
}

#[tokio::test]
async fn a_file_is_given_once_and_calls_nobody() {
    let (fake, discord) = fake().await;
    let (send, file) = given(9);
    let first = discord.upload(&bot(), &send, &file, "s1").await.expect("it is taken");
    let again = discord.upload(&bot(), &send, &file, "s1").await.expect("it was taken");

    assert_eq!(first, again, "the same name is the same message");
    let [said] = &fake.messages(GENERAL)[..] else { panic!("one message") };
    assert_eq!(said["attachments"][0]["filename"], json!("plan.txt"));
    assert_eq!(said["attachments"][0]["content_type"], json!("text/plain"));
    assert_eq!(
        (&said["attachments"][0]["size"], &said["mention_everyone"]),
        (&json!(9), &json!(false))
    );
}

#[tokio::test]
async fn what_is_too_large_for_discord_is_refused_in_a_word() {
    let (fake, discord) = fake().await;
    fake.settings(|settings| settings.file_bytes_max = 10);
    for (bytes, is_taken) in [(10, true), (11, false)] {
        let (send, file) = given(bytes);
        match discord.upload(&bot(), &send, &file, &bytes.to_string()).await {
            Err(DeliverError::Refused { platform_code }) if !is_taken => {
                assert_eq!(platform_code, "file_too_large");
            }
            answered => assert!(is_taken && answered.is_ok(), "{bytes}: {answered:?}"),
        }
    }
}

/// A file of nine bytes that breaks off after four.
struct BrokenSource;

#[async_trait]
impl FileSource for BrokenSource {
    async fn open(&self) -> Result<FileContent, FetchError> {
        let chunks = [Ok("four".into()), Err("the connection broke".into())];
        Ok(FileContent { size: Some(9), bytes: stream::iter(chunks).boxed() })
    }
}

#[tokio::test]
async fn a_file_that_breaks_off_makes_no_message() {
    let (fake, discord) = fake().await;
    let (send, file) = given(9);
    let broken = File { source: Arc::new(BrokenSource), ..file.clone() };
    let result = discord.upload(&bot(), &send, &broken, "s1").await;
    assert!(matches!(result, Err(DeliverError::Ambiguous(_))), "{result:?}");

    discord.upload(&bot(), &send, &file, "s2").await.expect("the whole file is taken");
    assert_eq!(fake.messages(GENERAL).len(), 1, "only the whole file made a message");
}

//! Tests that the fake behaves as Telegram's documentation says.

use serde_json::json;

use super::markdown::plain;
use super::*;

const TOKEN: &str = "42:secret";

async fn fake() -> FakeTelegram {
    let fake = FakeTelegram::open().await;
    fake.bot(TOKEN, "desk_bot");
    fake
}

/// Makes a call. Returns the status and the body.
async fn ask(fake: &FakeTelegram, method: &str, asked: &Value) -> (u16, Value) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/bot{TOKEN}/{method}", fake.url());
    let answer = client.post(url).json(asked).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap())
}

fn numbers(answer: &Value) -> Vec<i64> {
    let updates = answer["result"].as_array().unwrap();
    updates.iter().map(|update| update["update_id"].as_i64().unwrap()).collect()
}

#[test]
fn markup_is_read_as_telegram_reads_it() {
    let good = [
        (r"*a* _b_ __c__ ~d~ ||e||", "a b c d e"),
        (r"*a _b_*", "a b"),
        (r"_a_**_b_", "ab"),
        (r"1\. a\!", "1. a!"),
        (r"`a.b\`c\\`", r"a.b`c\"),
        ("```rust\na\\`.b\n```", "a`.b\n"),
        (r"[a\.b](https://x.y/\)z)", "a.b"),
        (">a\n>b", "a\nb"),
    ];
    for (text, want) in good {
        assert_eq!(plain(text).as_deref(), Ok(want), "{text}");
    }
    for text in ["a.", "*a", "_a*b_c*", "[a]", "[a](b", "`a", "```a", "a > b", "__a_", "a]"] {
        assert!(plain(text).is_err(), "{text}");
    }
}

#[tokio::test]
async fn updates_are_told_until_they_are_confirmed() {
    let fake = fake().await;
    for text in ["one", "two", "three"] {
        fake.says(TOKEN, 900, text);
    }

    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({})).await.1), [1, 2, 3]);
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({ "limit": 2 })).await.1), [1, 2]);
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({ "offset": 3 })).await.1), [3]);
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({})).await.1), [3]);
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({ "offset": 4 })).await.1), [0_i64; 0]);
    assert_eq!(fake.pending(TOKEN), 0);
}

#[tokio::test]
async fn a_poll_waits_for_what_comes() {
    let fake = fake().await;
    let asked = json!({ "timeout": 30 });

    let (told, number) = tokio::join!(ask(&fake, "getUpdates", &asked), async {
        while fake.shared.world().bot(TOKEN).is_none_or(|bot| bot.polls == 0) {
            tokio::task::yield_now().await;
        }
        fake.says(TOKEN, 900, "late")
    });
    assert_eq!(numbers(&told.1), [number]);
}

#[tokio::test]
async fn a_second_poll_ends_the_first() {
    let fake = fake().await;
    let asked = json!({ "timeout": 30 });

    let (first, _) = tokio::join!(ask(&fake, "getUpdates", &asked), async {
        while fake.shared.world().bot(TOKEN).is_none_or(|bot| bot.polls == 0) {
            tokio::task::yield_now().await;
        }
        ask(&fake, "getUpdates", &json!({})).await
    });
    assert_eq!(first.0, 409);
    ask(&fake, "setWebhook", &json!({ "url": "http://127.0.0.1:1/" })).await;
    assert_eq!(ask(&fake, "getUpdates", &json!({})).await.0, 409, "a webhook is set");
}

#[tokio::test]
async fn an_offset_from_before_numbers_began_anew_confirms_nothing() {
    let fake = fake().await;
    fake.renumber(TOKEN, 5_000);
    fake.says(TOKEN, 900, "before");
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({ "offset": 5_001 })).await.1), [0_i64; 0]);

    fake.renumber(TOKEN, 7);
    fake.says(TOKEN, 900, "after");
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({ "offset": 5_001 })).await.1), [7]);
    assert_eq!(numbers(&ask(&fake, "getUpdates", &json!({ "offset": 5_001 })).await.1), [7]);
}

#[tokio::test]
async fn it_misbehaves_on_command_and_only_so_often() {
    let fake = fake().await;
    fake.misbehave(Fault::too_many("getMe", 1, 3));

    let (status, said) = ask(&fake, "getMe", &json!({})).await;
    assert_eq!((status, &said["parameters"]["retry_after"]), (429, &json!(3)));
    assert_eq!(ask(&fake, "getMe", &json!({})).await.1["result"]["username"], json!("desk_bot"));
}

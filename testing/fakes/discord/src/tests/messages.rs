//! Tests the messages that bots send and read.

use super::*;

#[tokio::test]
async fn a_message_is_checked_as_discord_checks_it() {
    let fake = fake().await;
    let long = |length: usize| json!({ "content": "😀".repeat(length) });
    let answers = |fail: bool| {
        let reference = json!({ "message_id": "7", "fail_if_not_exists": fail });
        json!({ "content": "yes", "message_reference": reference })
    };
    let twice = json!([{ "type": 1, "components": [
        { "type": 2, "label": "a", "style": 1, "custom_id": "x" },
        { "type": 2, "label": "b", "style": 1, "custom_id": "x" },
    ] }]);
    let cases = [
        ("as long as may be", GENERAL, long(2_000), 200, json!(null)),
        ("longer", GENERAL, long(2_001), 400, json!(50_035)),
        ("empty", GENERAL, json!({ "content": " " }), 400, json!(50_006)),
        ("an answer to nothing", GENERAL, answers(true), 400, json!(50_035)),
        ("to nothing, if need be", GENERAL, answers(false), 200, json!(null)),
        (
            "two buttons of one name",
            GENERAL,
            json!({ "content": "a", "components": twice }),
            400,
            json!(50_035),
        ),
        ("where it sees nothing", HIDDEN, json!({ "content": "a" }), 403, json!(50_001)),
        ("where it may not write", READ_ONLY, json!({ "content": "a" }), 403, json!(50_013)),
        ("nowhere", 7, json!({ "content": "a" }), 404, json!(10_003)),
    ];
    for (name, channel, body, status, code) in cases {
        let (said, told) = send(&fake, channel, &body).await;
        assert_eq!((said, &told["code"]), (status, &code), "{name}: {told}");
    }
}

#[tokio::test]
async fn what_is_not_ones_own_is_left_alone() {
    let fake = fake().await;
    let path = format!("/channels/{GENERAL}/messages/{}", fake.say(ANN, GENERAL, "mine"));

    let (status, no) = ask(&fake, Method::PATCH, &path, &json!({ "content": "yours" })).await;
    assert_eq!((status, &no["code"]), (403, &json!(50_005)));
    let (status, no) = answer(call(&fake, Method::DELETE, &path)).await;
    assert_eq!((status, &no["code"]), (403, &json!(50_013)));
    assert_eq!(get(&fake, &path).await.1["content"], json!("mine"));
}

#[tokio::test]
async fn a_page_is_after_before_or_around_a_message() {
    let fake = fake().await;
    let ids: Vec<u64> = (0..7).map(|number| fake.say(ANN, GENERAL, &format!("{number}"))).collect();
    let cases = [
        ("limit=2".to_owned(), "6 5"),
        (format!("after={}&limit=2", ids[1]), "3 2"),
        (format!("before={}&limit=2", ids[5]), "4 3"),
        (format!("around={}&limit=3", ids[3]), "4 3 2"),
        (format!("after={}", ids[6]), ""),
    ];
    for (query, want) in cases {
        let (_, page) = get(&fake, &format!("/channels/{GENERAL}/messages?{query}")).await;
        let page = page.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap());
        assert_eq!(page.collect::<Vec<_>>().join(" "), want, "{query}");
    }
    assert_eq!(get(&fake, &format!("/channels/{GENERAL}/messages?limit=101")).await.0, 400);
}

#[tokio::test]
async fn a_nonce_that_is_enforced_is_taken_once() {
    let fake = fake().await;
    let once = json!({ "content": "a", "nonce": "n", "enforce_nonce": true });

    let (first, second) =
        (send(&fake, GENERAL, &once).await.1, send(&fake, GENERAL, &once).await.1);
    assert_eq!(first["id"], second["id"]);
    let elsewhere = send(&fake, GENERAL, &json!({ "content": "a", "nonce": "n" })).await.1;
    assert_ne!(first["id"], elsewhere["id"], "it was not enforced");
}

#[tokio::test]
async fn only_those_are_mentioned_whom_the_sender_lets() {
    let fake = fake().await;
    let text = format!("<@{ANN}> @everyone");
    let allowed = [
        (json!(null), 1),
        (json!({ "parse": [] }), 0),
        (json!({ "parse": ["users"] }), 1),
        (json!({ "users": [ANN.to_string()] }), 1),
        (json!({ "users": ["7"] }), 0),
    ];
    for (allowed, want) in allowed {
        let body = json!({ "content": text, "allowed_mentions": allowed });
        let (_, sent) = send(&fake, GENERAL, &body).await;
        assert_eq!(sent["mentions"].as_array().map(Vec::len), Some(want), "{allowed}");
        assert_eq!(sent["mention_everyone"], json!(false), "the bot may not");
    }
    let both =
        json!({ "content": "a", "allowed_mentions": { "parse": ["users"], "users": ["7"] } });
    assert_eq!(send(&fake, GENERAL, &both).await.1["code"], json!(50_035));
}

#[tokio::test]
async fn a_file_is_found_where_the_message_says() {
    let fake = fake().await;
    let form = "--fence\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n\
        {\"content\":\"see\",\"attachments\":[{\"id\":0,\"description\":\"a plan\"}]}\r\n\
        --fence\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"plan.txt\"\r\n\
        Content-Type: text/plain\r\n\r\nsome words\r\n--fence--\r\n";
    let sent = call(&fake, Method::POST, &format!("/channels/{GENERAL}/messages"))
        .header("content-type", "multipart/form-data; boundary=fence")
        .body(form);

    let file = answer(sent).await.1["attachments"][0].clone();
    assert_eq!((&file["filename"], &file["description"]), (&json!("plan.txt"), &json!("a plan")));
    let found = CLIENT.get(file["url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(found.headers()["content-type"], "text/plain");
    assert_eq!(found.text().await.unwrap(), "some words");
}

#[tokio::test]
async fn somebody_who_takes_no_direct_messages_gets_none() {
    let fake = fake().await;
    let asked = json!({ "recipient_id": ANN.to_string() });
    let (_, direct) = ask(&fake, Method::POST, "/users/@me/channels", &asked).await;
    let channel = direct["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(channel, fake.direct(BOT, ANN));

    assert_eq!(send(&fake, channel, &json!({ "content": "hello" })).await.0, 200);
    fake.block(ANN);
    assert_eq!(
        send(&fake, channel, &json!({ "content": "hello?" })).await.1["code"],
        json!(50_007)
    );
}

#[tokio::test]
async fn a_reaction_is_there_until_it_is_taken_back() {
    let fake = fake().await;
    let message = fake.say(ANN, GENERAL, "look");
    let path =
        |emoji: &str| format!("/channels/{GENERAL}/messages/{message}/reactions/{emoji}/@me");

    assert_eq!(answer(call(&fake, Method::PUT, &path("%F0%9F%91%80"))).await.0, 204);
    assert_eq!(fake.reactions(GENERAL, message), [("👀".to_owned(), BOT)]);
    assert_eq!(answer(call(&fake, Method::DELETE, &path("%F0%9F%91%80"))).await.0, 204);
    assert_eq!(fake.reactions(GENERAL, message), []);
    assert_eq!(answer(call(&fake, Method::PUT, &path("eyes"))).await.1["code"], json!(10_014));
}

#[tokio::test]
async fn a_message_has_one_thread() {
    let fake = fake().await;
    let begin = fake.say(ANN, GENERAL, "a long story");
    let path = format!("/channels/{GENERAL}/messages/{begin}/threads");

    let (status, thread) = ask(&fake, Method::POST, &path, &json!({ "name": "Story" })).await;
    assert_eq!((status, &thread["id"]), (201, &json!(begin.to_string())));
    let (_, again) = ask(&fake, Method::POST, &path, &json!({ "name": "Again" })).await;
    assert_eq!(again["code"], json!(160_004));
    let path = format!("/channels/{begin}");
    let (_, renamed) = ask(&fake, Method::PATCH, &path, &json!({ "name": "End" })).await;
    assert_eq!(renamed["name"], json!("End"));
}

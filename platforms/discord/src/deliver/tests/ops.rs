use super::*;

fn message(id: &str) -> String {
    id.to_owned()
}

/// Compares the request of each op.
#[tokio::test]
async fn an_op_is_this_call() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let cases: [(Op, &str, Value); 7] = [
        (
            Op::Send { content: "hi".to_owned(), reply_to: Some(message("88")) },
            "POST /api/v10/channels/500/messages",
            json!({
                "content": "hi", "allowed_mentions": { "parse": [], "replied_user": false },
                "message_reference": { "message_id": "88", "fail_if_not_exists": false },
            }),
        ),
        (
            Op::Edit { message_id: message("88"), content: "ho".to_owned() },
            "PATCH /api/v10/channels/500/messages/88",
            json!({ "content": "ho", "allowed_mentions": { "parse": [], "replied_user": false } }),
        ),
        (Op::Typing { content: None }, "POST /api/v10/channels/500/typing", json!(null)),
        (
            Op::Delete { message_id: message("88") },
            "DELETE /api/v10/channels/500/messages/88",
            json!(null),
        ),
        (
            Op::React { message_id: message("88"), emoji: "👍".to_owned(), remove: false },
            "PUT /api/v10/channels/500/messages/88/reactions/%F0%9F%91%8D/@me",
            json!(null),
        ),
        (
            Op::React { message_id: message("88"), emoji: "<:wave:77>".to_owned(), remove: true },
            "DELETE /api/v10/channels/500/messages/88/reactions/wave%3A77/@me",
            json!(null),
        ),
        (
            Op::ThreadCreate { thread_name: " plans ".to_owned() },
            "POST /api/v10/channels/500/threads",
            json!({ "name": "plans", "type": 11 }),
        ),
    ];
    for (op, what, body) in cases {
        let name = op.name();
        discord.deliver(&bot(), &to(CHANNEL, op)).await.unwrap();
        let asked = stub.last();
        assert_eq!((asked.what.as_str(), asked.body), (what, body), "{name}");
        assert!(asked.headers.contains("authorization: bot ndi0mg."), "{name}");
    }
}

fn prompt(options: usize) -> Op {
    let option = |i: usize| PromptOption {
        id: format!("o{i}"),
        label: format!("Option {i}"),
        style: (i == 0).then(|| "danger".to_owned()),
    };
    Op::Prompt {
        content: "Which?".to_owned(),
        prompt_kind: "choice".to_owned(),
        prompt_id: "a1b2c3.d4e5f607".to_owned(),
        options: (0..options).map(option).collect(),
        reply_to: None,
        timeout_s: None,
    }
}

fn follow_up() -> Op {
    Op::FollowUp {
        session_key: "s".to_owned(),
        kind: "discord.interaction_token".to_owned(),
        content: "done".to_owned(),
    }
}

#[tokio::test]
async fn a_question_has_its_buttons_in_rows() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    discord.deliver(&bot(), &to(CHANNEL, prompt(6))).await.unwrap();

    let rows = stub.last().body["components"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    let first = json!({
        "type": 2, "style": 4, "label": "Option 0", "custom_id": "hp1:a1b2c3.d4e5f607:o0",
    });
    assert_eq!(rows[0]["components"][0], first);
    assert_eq!(rows[1]["components"].as_array().unwrap().len(), 1);
    discord.deliver(&bot(), &to(CHANNEL, prompt(25))).await.unwrap();
    let many = discord.deliver(&bot(), &to(CHANNEL, prompt(26))).await;
    assert_eq!(code(many), "too_many_options");
}

// T17
#[tokio::test]
async fn nobody_is_called_unless_that_was_granted() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let loud = "@everyone @here <@900> <@&71>";
    for op in [text(loud), Op::Edit { message_id: message("1"), content: loud.to_owned() }] {
        discord.deliver(&bot(), &to(CHANNEL, op)).await.unwrap();
        assert_eq!(stub.last().body["allowed_mentions"]["parse"], json!([]));
    }
    let lent = Key::new("tok".to_owned());
    discord.follow_up(&bot(), &to(CHANNEL, follow_up()), &lent).await.unwrap();
    assert_eq!(stub.last().body["allowed_mentions"]["parse"], json!([]));
    let settings = json!({ "mentions": ["users", "nonsense"] });
    let granted = Bot { settings, ..bot() };
    discord.deliver(&granted, &to(CHANNEL, text(loud))).await.unwrap();
    assert_eq!(stub.last().body["allowed_mentions"]["parse"], json!(["users"]));
}

#[tokio::test]
async fn an_interaction_is_answered_with_its_token_and_without_the_key() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let lent = Key::new("tok_-1".to_owned());
    let receipt = discord.follow_up(&bot(), &to(CHANNEL, follow_up()), &lent).await.unwrap();

    assert_eq!(receipt.message_id.as_deref(), Some("1"));
    assert_eq!(stub.last().what, "POST /api/v10/webhooks/4242/tok_-1?wait=true");
    assert!(!stub.last().headers.contains("authorization"));
    for (status, number) in [(404, 10015), (401, 50027), (404, 10062)] {
        stub.answer(status, json!({ "code": number, "message": "gone" }));
        let gone = discord.follow_up(&bot(), &to(CHANNEL, follow_up()), &lent).await;
        assert_eq!(code(gone), CAPABILITY_GONE);
    }
    let asked = stub.asked().len();
    for odd in ["", "..", "a/b", "a?b"] {
        let lent = Key::new(odd.to_owned());
        let gone = discord.follow_up(&bot(), &to(CHANNEL, follow_up()), &lent).await;
        assert_eq!(code(gone), CAPABILITY_GONE, "{odd}");
    }
    assert_eq!(stub.asked().len(), asked, "what is no token leads nowhere");
}

#[tokio::test]
async fn a_send_with_a_name_is_made_once() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let mut nonces = Vec::new();
    for name in ["agent-1/request-1/0", "agent-1/request-1/0", "agent-1/request-1/1"] {
        discord.deliver_as(&bot(), &to(CHANNEL, text("hi")), name).await.unwrap();
        let body = stub.last().body;
        assert_eq!(body["enforce_nonce"], true);
        nonces.push(body["nonce"].as_str().unwrap().to_owned());
    }
    assert_eq!(nonces[0], nonces[1]);
    assert_ne!(nonces[1], nonces[2]);
    assert!(nonces[0].len() <= 25);
}

#[tokio::test]
async fn a_thread_is_spoken_in_if_it_is_the_chats_own() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    stub.answer(200, json!({ "id": "510", "type": 11, "parent_id": "500" }));
    discord.deliver(&bot(), &in_thread("510", text("hi"))).await.unwrap();
    assert_eq!(stub.last().what, "POST /api/v10/channels/510/messages");
    discord.deliver(&bot(), &in_thread("500", text("hi"))).await.unwrap();
    assert_eq!(stub.last().what, "POST /api/v10/channels/500/messages");

    let elsewhere = [
        ("a thread of another channel", json!({ "id": "610", "type": 11, "parent_id": "600" })),
        ("a channel", json!({ "id": "610", "type": 0, "parent_id": "500" })),
    ];
    for (name, room) in elsewhere {
        stub.answer(200, room);
        let asked = stub.asked().len();
        let sent = discord.deliver(&bot(), &in_thread("610", text("hi"))).await;
        assert_eq!(code(sent), "thread_not_found", "{name}");
        assert_eq!(stub.asked().len(), asked + 1, "{name}: it was only looked at");
    }
}

#[tokio::test]
async fn only_a_thread_of_the_chat_is_renamed() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let rename =
        |id: &str| Op::ThreadRename { message_id: id.to_owned(), thread_name: "n".to_owned() };
    stub.answer(200, json!({ "id": "510", "type": 11, "parent_id": "500" }));
    discord.deliver(&bot(), &to(CHANNEL, rename("510"))).await.unwrap();
    assert_eq!(stub.last().what, "PATCH /api/v10/channels/510");

    stub.answer(200, json!({ "id": "500", "type": 0, "guild_id": "70" }));
    let renamed = discord.deliver(&bot(), &to(CHANNEL, rename("500"))).await;
    assert_eq!(code(renamed), "thread_not_found", "a channel keeps its name");
}

#[tokio::test]
async fn a_thread_is_renamed_under_its_conditions() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let cases = [
        (json!({ "only_if_connector_created": true }), "4242", "old", Ok(())),
        (
            json!({ "only_if_connector_created": true }),
            "900",
            "old",
            Err("thread_of_somebody_else"),
        ),
        (json!({ "only_if_current_name": "old" }), "900", "old", Ok(())),
        (json!({ "only_if_current_name": "old" }), "4242", "mine", Err("thread_has_another_name")),
        (json!({}), "900", "mine", Ok(())),
    ];
    for (metadata, owner, name, want) in cases {
        let room = json!({
            "id": "510", "type": 11, "parent_id": "500", "owner_id": owner, "name": name,
        });
        stub.answer(200, room);
        let op = Op::ThreadRename { message_id: message("510"), thread_name: "new".to_owned() };
        let metadata = metadata.as_object().unwrap().clone();
        let renamed = discord.deliver(&bot(), &Send { metadata, ..to(CHANNEL, op) }).await;
        let is_asked = stub.last().what.starts_with("PATCH");
        assert_eq!(is_asked, want.is_ok(), "{owner} {name}");
        match want {
            Ok(()) => assert!(renamed.is_ok(), "{renamed:?}"),
            Err(why) => assert_eq!(code(renamed), why),
        }
    }
}

#[tokio::test]
async fn a_chat_is_what_discord_says_it_is() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    let cases = [
        (
            json!({ "id": "500", "type": 0, "guild_id": "70", "name": "general" }),
            "general",
            "group",
        ),
        (json!({ "id": "500", "type": 11, "guild_id": "70", "name": "plans" }), "plans", "thread"),
        (json!({ "id": "500", "type": 15, "guild_id": "70", "name": "help" }), "help", "forum"),
        (
            json!({ "id": "500", "type": 1, "recipients": [{ "username": "ann", "global_name": "Ann" }] }),
            "Ann",
            "dm",
        ),
        (json!({ "id": "500", "type": 1 }), "500", "dm"),
    ];
    for (told, name, kind) in cases {
        stub.answer(200, told);
        let receipt = discord.deliver(&bot(), &to(CHANNEL, Op::GetChatInfo)).await.unwrap();
        let want = ChatInfo { name: name.to_owned(), kind: kind.to_owned() };
        assert_eq!(receipt.chat, Some(want));
    }
}

#[tokio::test]
async fn what_is_too_long_or_says_nothing_is_not_sent() {
    let stub = Stub::open().await;
    let discord = discord_at(&stub.url);
    discord.deliver(&bot(), &to(CHANNEL, text(&"ä".repeat(2_000)))).await.unwrap();
    let asked = stub.asked().len();
    let file = |url: &str| Op::SendMedia {
        media_kind: "image".to_owned(),
        source_url: url.to_owned(),
        content: String::new(),
        reply_to: None,
        filename: None,
    };
    let react = |emoji: &str| Op::React {
        message_id: message("1"),
        emoji: emoji.to_owned(),
        remove: false,
    };
    let cases = [
        (text(&"ä".repeat(2_001)), "too_long"),
        (text(" \0 "), "empty"),
        (file("http://example.org/a.png"), "file_not_taken"),
        (file("file:///etc/passwd"), "file_not_taken"),
        (react(".."), "reaction_invalid"),
        (react(""), "reaction_invalid"),
        (Op::Delete { message_id: message("../9") }, "message_not_found"),
        (Op::ThreadCreate { thread_name: " ".to_owned() }, "empty"),
    ];
    for (op, want) in cases {
        assert_eq!(code(discord.deliver(&bot(), &to(CHANNEL, op)).await), want);
    }
    for chat in ["", "0", "general", "5/../6", "-5", "99999999999999999999999"] {
        assert_eq!(
            code(discord.deliver(&bot(), &to(chat, Op::GetChatInfo)).await),
            "chat_not_found"
        );
    }
    assert_eq!(stub.asked().len(), asked, "nothing was asked of Discord");
}

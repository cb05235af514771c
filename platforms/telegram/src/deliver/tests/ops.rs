use nightdesk_testkit::cases::begin;
use nightdesk_testkit::memory_file;

use super::*;

#[tokio::test]
async fn a_text_is_said_with_its_markup() {
    let fake = fake().await;

    let receipt = deliver(&fake, &to(ANN, text("**Done.** See `a.rs`!"))).await.unwrap();
    assert_eq!(last(&fake).asked["text"], json!(r"*Done\.* See `a.rs`\!"));
    assert_eq!(made(&fake)["text"], json!("Done. See a.rs!"));
    assert_eq!(receipt.message_id, Some(made(&fake)["message_id"].to_string()));
}

#[tokio::test]
async fn what_telegram_cannot_read_is_said_plain_and_once() {
    let fake = fake().await;
    let no = "Bad Request: can't parse entities: Character '.' is reserved";
    fake.misbehave(Fault::refuse("sendMessage", 1, 400, no));

    deliver(&fake, &to(ANN, text("**so** be it."))).await.unwrap();
    assert_eq!(made(&fake)["text"], json!("**so** be it."));
    assert!(!last(&fake).asked.contains_key("parse_mode"));
    let done = fake.calls().iter().filter(|call| call.answered.is_ok()).count();
    assert_eq!(done, 1);
}

#[tokio::test]
async fn what_is_nothing_but_markup_is_said_plain() {
    let fake = fake().await;

    deliver(&fake, &to(ANN, text("#"))).await.unwrap();
    assert_eq!(made(&fake)["text"], json!("#"));
}

#[tokio::test]
async fn a_reply_names_what_it_answers_and_is_said_also_if_that_is_gone() {
    let fake = fake().await;
    fake.says(TOKEN, ANN, "question");
    for (answered, is_there) in [("101", true), ("99", false), ("not-a-number", false)] {
        let op = Op::Send { content: "answer".to_owned(), reply_to: Some(answered.to_owned()) };
        deliver(&fake, &to(ANN, op)).await.unwrap();
        assert_eq!(made(&fake).get("reply_to_message").is_some(), is_there, "{answered}");
    }
}

#[tokio::test]
async fn a_topic_is_opened_and_written_in() {
    let fake = fake().await;
    let name = Op::ThreadCreate { thread_name: " Plans ".to_owned() };

    let topic = deliver(&fake, &to(FORUM, name)).await.unwrap().thread_id.unwrap();
    for (thread, want) in
        [(json!(topic), json!(topic.parse::<i64>().unwrap())), (json!("1"), Value::Null)]
    {
        let mut send = to(FORUM, text("hi"));
        send.metadata.insert("thread_id".to_owned(), thread);
        deliver(&fake, &send).await.unwrap();
        assert_eq!(made(&fake)["message_thread_id"], want);
    }
}

#[tokio::test]
async fn what_is_being_written_is_shown_to_one_person_and_then_said() {
    let fake = fake().await;
    let draft = |chat, content: &str, is_final| {
        to(chat, Op::Draft { draft_id: 7, content: content.to_owned(), is_final })
    };

    let shown = deliver(&fake, &draft(ANN, "**so** it", false)).await.unwrap();
    assert_eq!(shown.message_id, None, "it is no message");
    let Called { method, asked, .. } = last(&fake);
    assert_eq!((method.as_str(), &asked["draft_id"]), ("sendMessageDraft", &json!(7)));
    assert_eq!(asked["text"], json!("*so* it"));
    let said = deliver(&fake, &draft(ANN, "so it is", true)).await.unwrap();
    assert_eq!(said.message_id, Some(made(&fake)["message_id"].to_string()));
    let elsewhere = deliver(&fake, &draft(FORUM, "so it", false)).await;
    assert!(matches!(elsewhere, Err(DeliverError::Refused { .. })), "{elsewhere:?}");
}

#[tokio::test]
async fn a_message_is_edited_and_deleted() {
    let fake = fake().await;
    let id = deliver(&fake, &to(ANN, text("first"))).await.unwrap().message_id.unwrap();
    let edit = |content: &str| {
        let (message_id, content) = (id.clone(), content.to_owned());
        to(ANN, Op::Edit { message_id, content })
    };

    assert_eq!(deliver(&fake, &edit("second")).await.unwrap().message_id, Some(id.clone()));
    assert_eq!(made(&fake)["text"], json!("second"));
    let again = deliver(&fake, &edit("second")).await.unwrap();
    assert_eq!(again.message_id, Some(id.clone()), "it says that already");
    let delete = to(ANN, Op::Delete { message_id: id.clone() });
    deliver(&fake, &delete).await.unwrap();
    let gone = deliver(&fake, &delete).await.unwrap_err();
    assert!(
        matches!(gone, DeliverError::Refused { platform_code } if platform_code == "message_not_found")
    );
}

#[tokio::test]
async fn a_message_is_reacted_to() {
    let fake = fake().await;
    fake.says(TOKEN, ANN, "look");
    for (remove, want) in [(false, json!([{ "type": "emoji", "emoji": "👀" }])), (true, json!([]))]
    {
        let (message_id, emoji) = ("101".to_owned(), "👀".to_owned());
        deliver(&fake, &to(ANN, Op::React { message_id, emoji, remove })).await.unwrap();
        assert_eq!(last(&fake).asked["reaction"], want);
    }
}

#[tokio::test]
async fn typing_is_shown_and_cleared_by_itself() {
    let fake = fake().await;
    deliver(&fake, &to(ANN, Op::Typing { content: None })).await.unwrap();
    deliver(&fake, &to(ANN, Op::Typing { content: Some("waking…".to_owned()) })).await.unwrap();
    deliver(&fake, &to(ANN, Op::Typing { content: Some(String::new()) })).await.unwrap();

    let actions: Vec<_> = fake.calls().iter().map(|call| call.asked["action"].clone()).collect();
    assert_eq!(actions, [json!("typing"), json!("typing")]);
}

#[tokio::test]
async fn a_question_has_buttons_that_come_back() {
    let fake = fake().await;

    deliver(&fake, &to(ANN, question("a1.b2", &["yes", "no"]))).await.unwrap();
    let keyboard = &made(&fake)["reply_markup"]["inline_keyboard"];
    assert_eq!(
        *keyboard,
        json!([
            [{ "text": "YES", "callback_data": "hp1:a1.b2:yes" }],
            [{ "text": "NO", "callback_data": "hp1:a1.b2:no" }],
        ])
    );
    let odd = deliver(&fake, &to(ANN, question("a:b", &["yes"]))).await;
    assert!(matches!(odd, Err(DeliverError::Refused { .. })), "{odd:?}");
}

fn question(prompt_id: &str, options: &[&str]) -> Op {
    let option =
        |id: &&str| PromptOption { id: (*id).to_owned(), label: id.to_uppercase(), style: None };
    Op::Prompt {
        content: "May I?".to_owned(),
        prompt_kind: "approval".to_owned(),
        prompt_id: prompt_id.to_owned(),
        options: options.iter().map(option).collect(),
        reply_to: None,
        timeout_s: None,
    }
}

const KINDS: [(&str, &str, &str); 5] = [
    ("image", "sendPhoto", "photo"),
    ("voice", "sendVoice", "voice"),
    ("audio", "sendAudio", "audio"),
    ("video", "sendVideo", "video"),
    ("spreadsheet", "sendDocument", "document"),
];

#[tokio::test]
async fn a_file_is_fetched_by_telegram() {
    let (fake, url) = (fake().await, "https://files.test/v.ogg");
    for (kind, method, field) in KINDS {
        let send = to(ANN, file_of(kind, url, "*see*"));
        assert!(deliver(&fake, &send).await.unwrap().message_id.is_some(), "{kind}");
        let call = last(&fake);
        assert_eq!((call.method.as_str(), &call.asked[field]), (method, &json!(url)), "{kind}");
        assert_eq!(made(&fake)["caption"], json!("see"));
    }
}

#[tokio::test]
async fn a_file_is_given_along() {
    let (fake, text) = (fake().await, |text: &str| Some(text.to_owned()));
    for (mime, filename) in
        [(text("image/png"), text("c.png")), (text("no kind"), None), (None, None)]
    {
        let file = File { mime, filename: filename.clone(), ..memory_file("meow") };
        for (kind, method, field) in KINDS {
            let send = to(ANN, file_of(kind, "https://desk/relay/media/1", "*see*"));
            let receipt = telegram_at(&fake.url()).upload(&bot(), &send, &file, "s1").await;
            assert!(receipt.unwrap().message_id.is_some(), "{kind}");
            let call = last(&fake);
            assert_eq!(call.method, method);
            let name = filename.as_deref().unwrap_or(field);
            assert_eq!(call.asked[field], json!({ "file_name": name, "file_size": 4 }), "{kind}");
            assert_eq!(made(&fake)["caption"], json!("see"));
        }
    }
}

#[tokio::test]
async fn a_file_is_nowhere_else() {
    let fake = fake().await;
    let long = "x".repeat(1_025);
    let cases = [
        ("http://files.test/a", "", "file_not_taken"),
        ("file:///etc/passwd", "", "file_not_taken"),
        ("https://files.test/a", long.as_str(), "too_long"),
        // The bot's key gives access to every file that the bot received, also from another tenant's people.
        ("telegram-file:a", "", "file_not_taken"),
        ("https://nowhere.test/a", "", "file_not_taken"),
    ];
    for (url, caption, code) in cases {
        let got = deliver(&fake, &to(ANN, file_of("image", url, caption))).await;
        let Err(DeliverError::Refused { platform_code }) = got else { panic!("{url}: {got:?}") };
        assert_eq!(platform_code, code, "{url}");
    }
}

fn file_of(kind: &str, url: &str, caption: &str) -> Op {
    Op::SendMedia {
        media_kind: kind.to_owned(),
        source_url: url.to_owned(),
        content: caption.to_owned(),
        reply_to: None,
        filename: None,
    }
}

#[tokio::test]
async fn a_chat_says_what_it_is() {
    let fake = fake().await;
    for (chat, name, kind) in [(ANN, "Ann Lee", "dm"), (FORUM, "Forum", "forum")] {
        let info = deliver(&fake, &to(chat, Op::GetChatInfo)).await.unwrap().chat.unwrap();
        assert_eq!((info.name.as_str(), info.kind.as_str()), (name, kind));
    }
}

/// Returns one op of each kind for a message and a topic with these ids, and the chat of each.
fn every_op(id: &str, topic: &str) -> [(i64, Op); 14] {
    let (message_id, content) = (id.to_owned(), "so it is".to_owned());
    [
        (ANN, text("so be it")),
        (ANN, Op::Edit { message_id: message_id.clone(), content: content.clone() }),
        (ANN, Op::Typing { content: None }),
        (ANN, Op::React { message_id: message_id.clone(), emoji: "👀".to_owned(), remove: false }),
        (ANN, Op::Delete { message_id }),
        (ANN, file_of("image", "https://files.test/large", "")),
        (ANN, question("a1", &["yes", "no"])),
        (FORUM, Op::ThreadCreate { thread_name: "Plans".to_owned() }),
        (ANN, Op::GetChatInfo),
        (ANN, Op::Draft { draft_id: 1, content: content.clone(), is_final: false }),
        (ANN, Op::TaskCard { card_id: "1".to_owned(), chunks: Vec::new() }),
        (ANN, Op::TaskCardStop { card_id: "1".to_owned() }),
        (FORUM, rename(topic)),
        (ANN, Op::FollowUp { session_key: "s".to_owned(), kind: "k".to_owned(), content }),
    ]
}

fn rename(topic: &str) -> Op {
    Op::ThreadRename { message_id: topic.to_owned(), thread_name: "Plans".to_owned() }
}

#[tokio::test]
async fn a_topic_is_renamed_but_not_under_conditions_that_nobody_knows() {
    let fake = fake().await;
    let open = Op::ThreadCreate { thread_name: "Plan".to_owned() };
    let topic = deliver(&fake, &to(FORUM, open)).await.unwrap().thread_id.unwrap();
    for _ in 0..2 {
        deliver(&fake, &to(FORUM, rename(&topic))).await.expect("it is called that");
    }
    let calls = fake.calls().len();
    for condition in ["only_if_connector_created", "only_if_current_name"] {
        let value = if condition.ends_with("name") { json!("Plan") } else { json!(true) };
        let metadata = json!({ condition: value }).as_object().unwrap().clone();
        let send = Send { metadata, ..to(FORUM, rename(&topic)) };
        let refused = deliver(&fake, &send).await.unwrap_err();
        assert!(
            matches!(&refused, DeliverError::Refused { platform_code } if platform_code == "condition_not_known")
        );
    }
    assert_eq!(fake.calls().len(), calls, "nothing was asked of Telegram");
}

#[tokio::test]
async fn what_it_says_it_can_do_it_does() {
    let fake = fake().await;
    let ops = nightdesk_port::Platform::capabilities(&telegram_at(&fake.url()), &bot()).ops;
    for op in ops {
        let case = begin("telegram", "op", op);
        let id = deliver(&fake, &to(ANN, text("first"))).await.unwrap().message_id.unwrap();
        let open = Op::ThreadCreate { thread_name: "Plan".to_owned() };
        let topic = deliver(&fake, &to(FORUM, open)).await.unwrap().thread_id.unwrap();
        let calls = fake.calls().len();
        let (chat, op) =
            every_op(&id, &topic).into_iter().find(|(_, one)| one.name() == op).unwrap();
        deliver(&fake, &to(chat, op)).await.unwrap();
        assert_eq!(fake.calls().len(), calls + 1, "it is one call");
        made(&fake);
        case.passed();
    }
}

#[tokio::test]
async fn what_it_does_not_say_it_can_do_it_does_not() {
    let fake = fake().await;
    let ops = nightdesk_port::Platform::capabilities(&telegram_at(&fake.url()), &bot()).ops;
    let others = every_op("1", "1").into_iter().filter(|(_, op)| !ops.contains(&op.name()));
    let others: Vec<_> = others.collect();
    assert_eq!(others.len(), 14 - ops.len(), "every op is one or the other");
    for (chat, op) in others {
        let got = deliver(&fake, &to(chat, op)).await;
        assert!(matches!(got, Err(DeliverError::Unsupported)), "{got:?}");
    }
    assert_eq!(fake.calls(), []);
}

#[tokio::test]
async fn a_press_is_answered_and_nothing_else_is() {
    let fake = fake().await;
    let telegram = telegram_at(&fake.url());
    let query = json!({ "id": "77", "from": { "id": ANN }, "data": "x" });
    fake.happens(TOKEN, json!({ "callback_query": query }));

    telegram.answer_press(&bot(), "c:77").await.unwrap();
    assert_eq!(last(&fake).asked["callback_query_id"], json!("77"));
    let late = telegram.answer_press(&bot(), "c:77").await;
    assert!(matches!(late, Err(DeliverError::Refused { .. })), "{late:?}");
    let calls = fake.calls().len();
    telegram.answer_press(&bot(), "m:1:2:3").await.unwrap();
    assert_eq!(fake.calls().len(), calls, "it is no press");
}

use super::*;

fn hello(id: &str) -> Value {
    json!({ "id": id, "event": { "text": "hi", "source": { "chat_id": "c1", "user_id": "u1" } } })
}

#[test]
fn reads_nothing_without_a_good_signature() {
    let body = hello("m1").to_string();
    let good = sign(KEY, body.as_bytes());
    let cases = [
        ("another key's", sign("other", body.as_bytes())),
        ("another body's", sign(KEY, b"{}")),
        ("cut short", good[..62].to_owned()),
        ("not hex", "z".repeat(64)),
        ("empty", String::new()),
    ];
    for (name, signature) in cases {
        let got = received(body.as_bytes(), &signature);
        assert_eq!(got, Err(ReceiveError::BadSignature), "{name}");
    }
    // If the body were parsed, this would be unreadable.
    assert_eq!(received(b"not json", &good), Err(ReceiveError::BadSignature));
}

#[test]
fn reads_nothing_without_a_signature_or_a_key() {
    let headers = http::HeaderMap::new();
    let body = hello("m1").to_string();
    let request = SignedRequest::post(&headers, body.as_bytes());
    let platform = Scripted::new().unwrap();
    let got = platform.receive(&bot(json!({})), &request);
    assert_eq!(got.unwrap_err(), ReceiveError::BadSignature);

    let signed = [(SIGNATURE_HEADER.parse().unwrap(), sign("", body.as_bytes()).parse().unwrap())];
    let headers = signed.into_iter().collect();
    let keyless = Bot { key: None, ..bot(json!({})) };
    let got = platform.receive(&keyless, &SignedRequest { headers: &headers, ..request });
    assert_eq!(got.unwrap_err(), ReceiveError::BadSignature);
}

#[test]
fn a_key_that_was_replaced_is_still_believed() {
    let body = hello("m1").to_string();
    let headers =
        [(SIGNATURE_HEADER.parse().unwrap(), sign(KEY, body.as_bytes()).parse().unwrap())];
    let headers = headers.into_iter().collect();
    let request = SignedRequest::post(&headers, body.as_bytes());
    let new = Bot { key: Some(Key::new("new".to_owned())), ..bot(json!({})) };
    let both = Bot { former_keys: bot(json!({})).key.into_iter().collect(), ..new.clone() };
    let platform = Scripted::new().unwrap();

    assert!(platform.receive(&both, &request).is_ok());
    assert_eq!(platform.receive(&new, &request).unwrap_err(), ReceiveError::BadSignature);
}

#[test]
fn what_is_lent_is_no_part_of_its_event() {
    let mut body = hello("m1");
    body["capability"] = json!({ "kind": "discord.interaction_token", "value": "t0ken" });
    let body = body.to_string();
    let headers =
        [(SIGNATURE_HEADER.parse().unwrap(), sign(KEY, body.as_bytes()).parse().unwrap())];
    let headers = headers.into_iter().collect();
    let request = SignedRequest::post(&headers, body.as_bytes());
    let got = Scripted::new().unwrap().receive(&bot(json!({})), &request).unwrap();

    let RequestContent::Bearing(draft, lent) = got else { panic!("something was lent") };
    assert_eq!(lent.kind, "discord.interaction_token");
    assert_eq!(lent.secret.with(str::to_owned), "t0ken");
    assert!(!serde_json::to_string(&draft).unwrap().contains("t0ken"));
    assert!(!format!("{lent:?}").contains("t0ken"));
}

#[test]
fn takes_a_whole_message() {
    let drafts = said(&json!({ "id": "m1", "event": {
        "text": "hi", "message_type": "voice", "message_id": "9", "is_edit": true,
        "source": {
            "platform": "slack", "chat_id": "c1", "chat_type": "group", "user_id": "u1",
            "user_name": "Ann", "thread_id": "t1", "scope_id": "g1",
        },
        "media": [{ "url": "https://files.test/a" }],
        "context": [{ "text": "before" }],
        "reply_to": { "message_id": "8" },
        "prompt_response": { "prompt_id": "p1", "option_id": "o1" },
    }}));

    let draft = drafts.unwrap().pop().unwrap().unwrap();
    assert_eq!(draft.key, "m1");
    assert_eq!(draft.source.platform, "discord", "the bot says what platform it is");
    assert_eq!(draft.source.chat_type, ChatType::Group);
    assert_eq!(draft.source.scope_id.as_deref(), Some("g1"));
    let Content::Message(message) = draft.content else { panic!("a message") };
    assert_eq!((message.kind, message.is_edit), (MessageKind::Voice, true));
    assert_eq!(message.media.len() + message.context.len(), 2);
    assert_eq!(message.reply_to.unwrap().message_id.as_deref(), Some("8"));
    assert_eq!(message.prompt_response.unwrap().option_id, "o1");
}

#[test]
fn takes_a_forwarded_request() {
    let drafts = said(&json!({ "id": "m1", "event": { "passthrough": {
        "method": "POST", "path": "/hook", "headers": { "x-a": "b" }, "body_b64": "aGk=",
        "chat_id": "c1", "chat_type": "channel", "user_id": "u1", "scope_id": "g1",
    }}}));

    let draft = drafts.unwrap().pop().unwrap().unwrap();
    assert_eq!((draft.source.chat_id.as_str(), draft.source.chat_type), ("c1", ChatType::Channel));
    let Content::Passthrough(request) = draft.content else { panic!("a request") };
    assert_eq!((request.method.as_str(), request.body.as_slice()), ("POST", b"hi".as_slice()));
    assert_eq!(request.headers, [("x-a".to_owned(), "b".to_owned())]);
}

#[test]
fn an_unreadable_event_stands_beside_the_others() {
    let broken = [
        json!({ "id": "m2" }),
        json!({ "id": "m2", "event": { "text": "nowhere" } }),
        json!({ "id": "m2", "event": { "source": { "chat_id": 7 } } }),
        json!({ "id": "m2", "event": { "passthrough": { "method": "POST" } } }),
        json!({ "event": { "source": { "chat_id": "c1" } } }),
        json!("m2"),
    ];
    for broken in broken {
        let drafts = said(&json!({ "events": [hello("m1"), broken, hello("m3")] })).unwrap();
        let keys: Vec<_> = drafts.into_iter().map(|draft| draft.map(|draft| draft.key)).collect();
        let want = [Ok("m1".to_owned()), Err(ReceiveError::Unreadable), Ok("m3".to_owned())];
        assert_eq!(keys, want, "{broken}");
    }
}

#[test]
fn a_body_that_is_no_object_is_unreadable() {
    for body in ["", "not json", "{", "[]", "7", r#"{"events": 7}"#] {
        let got = received(body.as_bytes(), &sign(KEY, body.as_bytes()));
        assert_eq!(got, Err(ReceiveError::Unreadable), "{body}");
    }
}

use proptest::prelude::*;

use super::*;

fn draft() -> Draft {
    let source = Source {
        platform: "discord".to_owned(),
        chat_id: "c1".to_owned(),
        user_id: Some("u1".to_owned()),
        ..Source::default()
    };
    let message = Message { text: "hello".to_owned(), ..Message::default() };
    Draft { key: "m1".to_owned(), source, content: Content::Message(Box::new(message)) }
}

fn with_source(change: impl FnOnce(&mut Source)) -> Draft {
    let mut draft = draft();
    change(&mut draft.source);
    draft
}

#[test]
fn refuses_what_no_client_could_take() {
    let group = |platform: &str| {
        with_source(|source| {
            source.platform = platform.to_owned();
            source.chat_type = ChatType::Group;
        })
    };
    let long = "x".repeat(PLATFORM_ID_BYTES_MAX + 1);
    let cases = [
        ("no key", Draft { key: String::new(), ..draft() }, Unreadable::NoKey),
        ("no chat", with_source(|s| s.chat_id.clear()), Unreadable::NoChat),
        ("platform", with_source(|s| s.platform = "a:b".to_owned()), Unreadable::OddPlatform),
        ("no platform", with_source(|s| s.platform.clear()), Unreadable::OddPlatform),
        ("newline in an id", with_source(|s| s.chat_id = "a\nb".to_owned()), Unreadable::OddId),
        ("long id", with_source(|s| s.thread_id = Some(long)), Unreadable::OddId),
        ("discord room without guild", group("discord"), Unreadable::NoScope),
        ("slack room without team", group("slack"), Unreadable::NoScope),
        (
            "whatsapp chat that kills the client",
            with_source(|s| {
                s.platform = "whatsapp".to_owned();
                s.chat_id = "a/b".to_owned();
            }),
            Unreadable::OddWhatsappChat,
        ),
    ];
    for (name, draft, want) in cases {
        assert_eq!(Event::normalise(draft), Err(want), "{name}");
    }
}

#[test]
fn an_id_at_the_limit_is_taken() {
    let max = "x".repeat(PLATFORM_ID_BYTES_MAX);

    assert!(Event::normalise(with_source(|s| s.chat_id = max)).is_ok());
}

#[test]
fn takes_nul_out_and_keeps_the_rest() {
    let mut draft = draft();
    let message = Message { text: "a\0b".to_owned(), ..Message::default() };
    draft.content = Content::Message(Box::new(message));
    draft.source.user_name = Some("\0".to_owned());

    let event = Event::normalise(draft).unwrap();
    let Content::Message(message) = event.content() else { panic!("a message") };
    assert_eq!(message.text, "ab");
    assert_eq!(event.source().user_name, None);
}

prop_compose! {
    fn sources()(
        platform in "[ A-Za-z0-9_-]{0,10}|discord|whatsapp",
        chat_id in ".{0,12}",
        chat_type in prop_oneof![Just(ChatType::Dm), Just(ChatType::Group), Just(ChatType::Forum)],
        names in prop::array::uniform3(prop::option::of(".{0,8}")),
        ids in prop::array::uniform4(prop::option::of("[a-z:@\0]{0,6}")),
    ) -> Source {
        let [user_id, thread_id, scope_id, user_id_alt] = ids;
        let [chat_name, user_name, chat_topic] = names;
        Source {
            platform, chat_id, chat_type, chat_name, user_id, user_name, thread_id, chat_topic,
            user_id_alt, scope_id, ..Source::default()
        }
    }
}

prop_compose! {
    fn drafts()(
        key in ".{0,8}",
        source in sources(),
        text in any::<String>(),
        names in prop::array::uniform3(prop::option::of(any::<String>())),
        urls in prop::collection::vec("\0?[a-z]{0,3}", 0..3),
    ) -> Draft {
        let [author, reply_text, caption] = names;
        let reply_to = ReplyTo { text: reply_text, author, ..ReplyTo::default() };
        let media = |url| Media { url, caption: caption.clone(), ..Media::default() };
        let message = Message {
            text,
            reply_to: Some(reply_to),
            media: urls.into_iter().map(media).collect(),
            ..Message::default()
        };
        Draft { key, source, content: Content::Message(Box::new(message)) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // Q20: cleaning a clean event changes nothing.
    #[test]
    fn normalising_twice_is_normalising_once(draft in drafts()) {
        if let Ok(once) = Event::normalise(draft) {
            prop_assert_eq!(Event::normalise(once.clone().into_draft()), Ok(once));
        }
    }
}

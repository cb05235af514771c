//! Each frame once, as on the wire, and the properties of all frames.

use std::num::NonZeroU32;

use nightdesk_protocol::action::{Action, FollowUp};
use nightdesk_protocol::descriptor::{Ability, Descriptor, LenUnit};
use nightdesk_protocol::event::{ENTRY_BYTES_MAX, EncodeError, encode};
use nightdesk_protocol::frame::{Interrupt, InterruptResult, Outbound};
use nightdesk_protocol::hello::{ClientVersion, Hello, HelloCommand};
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_protocol::{EntryJson, Frame, FromGateway, ToGateway};
use nightdesk_types::event::{
    ChatType, Content, ContextLine, Draft, FireEvent, LetterEvent, LetterOrigin, Media, Message,
    MessageKind, Passthrough, PromptResponse, ReplyTo, Source,
};
use nightdesk_types::limits::{FRAME_IN_BYTES_MAX, FRAME_OUT_BYTES_MAX};
use nightdesk_types::send::{Op, Send};
use nightdesk_types::{AgentId, EntryId, Event, Incarnation, RequestId, Seq, StopId};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::strategies::{entry_ids, events, texts};

fn entry_id() -> EntryId {
    EntryId {
        agent: AgentId::from_uuid(Uuid::from_u128(7)),
        incarnation: Incarnation::new(5),
        seq: Seq::new(42),
    }
}

fn source() -> Source {
    Source {
        platform: "discord".to_owned(),
        chat_id: "thread1".to_owned(),
        chat_type: ChatType::Thread,
        user_id: Some("u1".into()),
        user_name: Some("Ann".into()),
        thread_id: Some("thread1".into()),
        scope_id: Some("g1".into()),
        parent_chat_id: Some("chan1".into()),
        message_id: Some("m3".into()),
        ..Source::default()
    }
}

fn event(content: Content) -> Event {
    let draft = Draft { key: "m3".to_owned(), source: source(), content };
    Event::normalise(draft).expect("a plain event")
}

fn message(message: Message) -> Event {
    event(Content::Message(Box::new(message)))
}

fn full_message() -> Message {
    Message {
        text: "look\nhere".to_owned(),
        kind: MessageKind::Photo,
        message_id: Some("m3".into()),
        reply_to: Some(ReplyTo {
            message_id: Some("m0".into()),
            text: Some("what?".into()),
            author: Some("Bob".into()),
            is_own: false,
        }),
        media: vec![Media {
            url: "https://example.org/a.png".to_owned(),
            mime: Some("image/png".into()),
            kind: Some("image".into()),
            size: Some(1024),
            filename: Some("a.png".into()),
            caption: Some("a".into()),
        }],
        context: vec![ContextLine {
            text: "before".to_owned(),
            user_name: Some("Bob".into()),
            user_id: Some("u2".into()),
        }],
        context_failed: true,
        prompt_response: Some(PromptResponse {
            prompt_id: "ab.12".to_owned(),
            option_id: "once".to_owned(),
            label: Some("Once".into()),
            prompt_message_id: Some("m2".into()),
        }),
        fire: Some(FireEvent {
            job_id: "ab12".to_owned(),
            fire_at: "2026-06-18T12:34:56+00:00".to_owned(),
            fire_id: "f1".to_owned(),
        }),
        letter: Some(LetterEvent {
            letter_id: "l1".to_owned(),
            from: "ann".to_owned(),
            dispatch_id: "d1".to_owned(),
            kind: "augment".to_owned(),
            session_id: Some("kitchen".to_owned()),
            event_type: Some("x".to_owned()),
            correlation_id: Some("c1".to_owned()),
            origin: Some(LetterOrigin {
                skill_name: "brief".to_owned(),
                entry_skill_name: Some("morning".to_owned()),
                trigger_kind: "cron".to_owned(),
                caller_agent_id: Some("ann".to_owned()),
            }),
        }),
        is_edit: true,
        // Not on the wire.
        mentions_bot: false,
    }
}

fn outbound(action: Action) -> Outbound {
    Outbound {
        request_id: RequestId::new("9581d08052f5").expect("a short id"),
        action,
        platform: Some("discord".into()),
        bot_handle: Some("botD".into()),
    }
}

fn metadata(value: Value) -> Map<String, Value> {
    let Value::Object(entries) = value else { panic!("{value} is no object") };
    entries
}

#[test]
fn a_descriptor_on_the_wire() {
    let length = NonZeroU32::new(2000).unwrap();
    let descriptor = Descriptor::new("discord", "Discord", length)
        .marked_up_as("discord")
        .with_len_unit(LenUnit::Chars)
        .with_hint("Short lines read best.")
        .with_ops(["send", "edit", "typing", "react"])
        .with(Ability::Edit)
        .with(Ability::Threads);

    insta::assert_snapshot!(Frame::descriptor(&descriptor).as_str());
}

#[test]
fn an_entry_on_the_wire() {
    let json = encode(&message(full_message()), "botD").unwrap();

    insta::assert_snapshot!(Frame::entry(entry_id(), &json).as_str());
}

// T64
#[test]
fn a_hostile_text_stays_in_its_field_of_one_frame() {
    let texts = include_str!("../../../../testing/hostile-texts.json");
    let texts: Vec<String> = serde_json::from_str(texts).unwrap();
    let frame = |text: &str| {
        let said = Message { text: text.to_owned(), ..Message::default() };
        let json = encode(&message(said), "botD").unwrap();
        Frame::entry(entry_id(), &json).as_str().to_owned()
    };
    let plain: Value = serde_json::from_str(&frame("hello")).unwrap();

    for text in texts {
        let written = frame(&text);
        assert_eq!(written.trim_end_matches('\n').matches('\n').count(), 0, "one line: {text}");
        let mut read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["event"]["text"], json!(text), "the text is told as it was written");
        read["event"]["text"] = json!("hello");
        assert_eq!(read, plain, "{text}");
    }
}

#[test]
fn an_entry_without_a_name_on_the_wire() {
    let plain = Message { text: "hello".to_owned(), ..Message::default() };
    let json = encode(&message(plain), "botD").unwrap();

    insta::assert_snapshot!(Frame::entry_unnamed(&json).as_str());
}

#[test]
fn a_passthrough_on_the_wire() {
    let request = Passthrough {
        method: "POST".to_owned(),
        path: "/interactions/botD".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: b"{\"type\":2}".to_vec(),
    };
    let json = encode(&event(Content::Passthrough(request)), "botD").unwrap();

    insta::assert_snapshot!(Frame::entry(entry_id(), &json).as_str());
}

#[test]
fn answers_on_the_wire() {
    let id = RequestId::new("9581d08052f5").unwrap();
    let answers = [
        Outcome::delivered(Some("msg-1".into())),
        Outcome::delivered(Some("msg-1".into()))
            .with_thread("thread1".to_owned(), Some("Look here".into())),
        Outcome::refused("discord", "this agent was never addressed there"),
        Outcome::failed("rate limited by the platform"),
        Outcome::ambiguous(),
        Outcome::chat("general".to_owned(), "channel".to_owned()),
        Outcome::unknown_op("dance"),
        Outcome::unusable("send", "chat_id"),
    ];
    let lines: String =
        answers.iter().map(|answer| Frame::outbound_result(&id, answer).into_string()).collect();

    insta::assert_snapshot!(lines);
}

#[test]
fn an_interrupt_of_the_desk_on_the_wire() {
    let key = SessionKey::new("agent:main:discord:dm:c1").unwrap();

    insta::assert_snapshot!(Frame::interrupt_inbound(&key, "c1", None).unwrap().as_str());
}

#[test]
fn a_stop_with_an_id_and_its_answer_on_the_wire() {
    let key = SessionKey::new("agent:main:discord:dm:c1").unwrap();
    let stop_id = StopId::new("0f1e2d3c").unwrap();
    let stop = Frame::interrupt_inbound(&key, "c1", Some(&stop_id)).unwrap();
    let answer = Frame::interrupt_result(&InterruptResult { stop_id, stopped: true }).unwrap();

    insta::assert_snapshot!(stop.into_string() + answer.as_str());
}

#[test]
fn a_going_idle_and_its_ack_on_the_wire() {
    let lines = Frame::going_idle().into_string() + Frame::going_idle_ack().as_str();

    insta::assert_snapshot!(lines);
}

#[test]
fn hellos_on_the_wire() {
    let stock = Hello {
        platform: "discord".to_owned(),
        bot_handle: "botD".to_owned(),
        commands: None,
        client: None,
    };
    let ours = Hello {
        commands: Some(vec![HelloCommand {
            name: "status".to_owned(),
            description: "Says how it is".to_owned(),
            options: vec![json!({"type": 3, "name": "of"})],
        }]),
        client: Some(ClientVersion {
            name: "nightdesk-sdk".to_owned(),
            version: "0.1.0".to_owned(),
        }),
        ..stock.clone()
    };
    let lines: String =
        [stock, ours].iter().map(|hello| Frame::hello(hello).unwrap().into_string()).collect();

    insta::assert_snapshot!(lines);
}

#[test]
fn acks_and_interrupts_of_a_gateway_on_the_wire() {
    let session_key = SessionKey::new("agent:main:discord:dm:c1").unwrap();
    let interrupt = Interrupt { session_key, reason: None };
    let ack = Frame::inbound_ack(&entry_id().to_string()).unwrap();
    let lines = ack.into_string() + Frame::interrupt(&interrupt).unwrap().as_str();

    insta::assert_snapshot!(lines);
}

#[test]
fn the_live_sessions_on_the_wire() {
    let sessions = SessionNames::from_usable(["kitchen".to_owned(), "cellar".to_owned()]);

    insta::assert_snapshot!(Frame::sessions(&sessions).unwrap().as_str());
}

#[test]
fn sends_on_the_wire() {
    let send = Send {
        chat_id: "c1".to_owned(),
        op: Op::Send { content: "hi".to_owned(), reply_to: Some("m1".into()) },
        metadata: metadata(json!({"scope_id": "g1", "notify": true})),
    };
    let follow_up = FollowUp {
        session_key: SessionKey::new("agent:main:discord:dm:c1").unwrap(),
        kind: "discord.interaction_token".to_owned(),
        content: "done".to_owned(),
        metadata: Map::new(),
    };
    let lines: String = [Action::Send(send), Action::FollowUp(follow_up)]
        .into_iter()
        .map(|action| Frame::outbound(&outbound(action)).unwrap().into_string())
        .collect();

    insta::assert_snapshot!(lines);
}

#[test]
fn an_event_at_the_limit_goes_and_one_past_it_does_not() {
    let of_len = |len| message(Message { text: "x".repeat(len), ..Message::default() });
    let empty = encode(&of_len(0), "botD").unwrap().as_bytes().len();
    let most = ENTRY_BYTES_MAX - empty;

    let json = encode(&of_len(most), "botD").unwrap();
    assert_eq!(Frame::entry(entry_id(), &json).len_bytes(), FRAME_OUT_BYTES_MAX);
    assert_eq!(json.frame_len_bytes(), FRAME_OUT_BYTES_MAX);
    assert!(matches!(encode(&of_len(most + 1), "botD"), Err(EncodeError::TooLong(_))));
}

#[test]
fn a_send_at_the_limit_goes_and_one_past_it_does_not() {
    let of_len = |len| {
        let op = Op::Send { content: "x".repeat(len), reply_to: None };
        let send = Send { chat_id: "c".to_owned(), op, metadata: Map::new() };
        Frame::outbound(&outbound(Action::Send(send)))
    };
    let most = FRAME_IN_BYTES_MAX - of_len(0).unwrap().len_bytes();

    assert_eq!(of_len(most).unwrap().len_bytes(), FRAME_IN_BYTES_MAX);
    assert!(of_len(most + 1).is_err());
}

#[test]
fn what_others_write_cannot_make_a_frame_too_long() {
    // The longest JSON form of a byte: six.
    let endless = "\u{1}".repeat(FRAME_OUT_BYTES_MAX);
    let length = NonZeroU32::MAX;
    let descriptor = Descriptor::new(&endless, &endless, length)
        .marked_up_as(&endless)
        .with_hint(&endless)
        .with_emoji(&endless)
        .with_ops([endless.as_str(); 1000]);
    let id = RequestId::new("\u{1}".repeat(128)).unwrap();
    let outcomes = [
        Outcome::delivered(Some(endless.clone()))
            .with_thread(endless.clone(), Some(endless.clone())),
        Outcome::refused(&endless, &endless),
        Outcome::chat(endless.clone(), endless.clone()),
        Outcome::unknown_op(&endless),
    ];

    assert!(Frame::descriptor(&descriptor).len_bytes() <= FRAME_OUT_BYTES_MAX);
    for outcome in outcomes {
        assert!(Frame::outbound_result(&id, &outcome).len_bytes() <= FRAME_OUT_BYTES_MAX);
    }
    let key = SessionKey::new("k").unwrap();
    assert!(Frame::interrupt_inbound(&key, &endless, None).is_err());
}

#[test]
fn what_people_wrote_is_not_shown() {
    let json = encode(&message(full_message()), "botD").unwrap();
    let frame = Frame::entry(entry_id(), &json);

    assert_eq!(format!("{frame:?}"), format!("Frame({} bytes)", frame.len_bytes()));
    assert!(!format!("{json:?}").contains("look"));
}

#[test]
fn each_side_reads_what_the_other_wrote() {
    let length = NonZeroU32::new(4000).unwrap();
    let descriptor = Descriptor::new("telegram", "Telegram", length)
        .with_len_unit(LenUnit::Utf16)
        .with_emoji("x")
        .with_ops(["react"])
        .with(Ability::Context);
    let request_id = RequestId::new("r1").unwrap();
    let session_key = SessionKey::new("agent:main:discord:dm:c1").unwrap();
    let result = Outcome::chat("general".to_owned(), "channel".to_owned());
    let chat_id = "c1".to_owned();
    let stop_id = StopId::new("s1").unwrap();
    let from_desk = [
        (Frame::descriptor(&descriptor), ToGateway::Descriptor(Box::new(descriptor))),
        (
            Frame::outbound_result(&request_id, &result),
            ToGateway::OutboundResult { request_id, result: Box::new(result) },
        ),
        (
            Frame::interrupt_inbound(&session_key, &chat_id, Some(&stop_id)).unwrap(),
            ToGateway::InterruptInbound {
                session_key: session_key.clone(),
                chat_id,
                stop_id: Some(stop_id.clone()),
            },
        ),
        (Frame::going_idle_ack(), ToGateway::GoingIdleAck),
    ];
    for (frame, meant) in from_desk {
        assert_eq!(ToGateway::decode(frame.as_str().as_bytes()), meant);
    }

    let commands = Some(vec![HelloCommand {
        name: "status".to_owned(),
        description: "Says how it is".to_owned(),
        options: vec![json!({"type": 3})],
    }]);
    let client =
        Some(ClientVersion { name: "nightdesk-sdk".to_owned(), version: "0.1.0".to_owned() });
    let (platform, bot_handle) = ("discord".to_owned(), "botD".to_owned());
    let hello = Hello { platform, bot_handle, commands, client };
    let interrupt = Interrupt { session_key, reason: Some("enough".to_owned()) };
    let sessions = SessionNames::from_usable(["kitchen".to_owned(), "cellar".to_owned()]);
    let answer = InterruptResult { stop_id, stopped: true };
    let from_gateway = [
        (Frame::hello(&hello).unwrap(), FromGateway::Hello(hello)),
        (Frame::inbound_ack("b1").unwrap(), FromGateway::InboundAck { buffer_id: "b1".to_owned() }),
        (Frame::interrupt(&interrupt).unwrap(), FromGateway::Interrupt(interrupt)),
        (Frame::interrupt_result(&answer).unwrap(), FromGateway::InterruptResult(answer)),
        (Frame::going_idle(), FromGateway::GoingIdle),
        (Frame::sessions(&sessions).unwrap(), FromGateway::Sessions(sessions)),
    ];
    for (frame, meant) in from_gateway {
        assert_eq!(FromGateway::decode(frame.as_str().as_bytes()), meant);
    }
}

/// Q9: one JSON object, one newline, at its end, within the limit.
fn is_one_line(frame: &Frame) -> Result<(), TestCaseError> {
    let text = frame.as_str();
    prop_assert_eq!(text.find('\n'), Some(text.len() - 1));
    prop_assert!(text.len() <= FRAME_OUT_BYTES_MAX);
    let parsed: Value = serde_json::from_str(text).expect("a frame is JSON");
    prop_assert!(parsed.is_object());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn an_entry_is_one_line(event in events(), entry in entry_ids()) {
        let Ok(json) = encode(&event, "bot\n") else { return Ok(()) };

        is_one_line(&Frame::entry(entry, &json))?;
        is_one_line(&Frame::entry_unnamed(&json))?;
        prop_assert_eq!(Frame::entry(entry, &json).len_bytes(), json.frame_len_bytes());
        prop_assert_eq!(EntryJson::from_stored(json.as_bytes().to_vec()), Ok(json));
    }

    #[test]
    fn every_other_frame_is_one_line(texts in prop::array::uniform4(texts())) {
        let [a, b, c, d] = texts;
        let length = NonZeroU32::MIN;
        is_one_line(&Frame::descriptor(&Descriptor::new(&a, &b, length).with_hint(&c)))?;
        let Some(id) = RequestId::new(a.clone()) else { return Ok(()) };
        is_one_line(&Frame::outbound_result(&id, &Outcome::refused(&b, &c)))?;
        is_one_line(&Frame::outbound_result(&id, &Outcome::chat(c.clone(), d.clone())))?;
        is_one_line(&Frame::inbound_ack(&b).expect("short"))?;
        let op = Op::Send { content: c.clone(), reply_to: Some(d.clone()) };
        let send = Send { chat_id: b.clone(), op, metadata: Map::new() };
        let outbound = Outbound {
            request_id: id, action: Action::Send(send), platform: Some(c), bot_handle: Some(d),
        };
        is_one_line(&Frame::outbound(&outbound).expect("short"))?;
        let Some(session_key) = SessionKey::new(a) else { return Ok(()) };
        is_one_line(&Frame::interrupt_inbound(&session_key, &b, None).expect("short"))?;
        let interrupt = Interrupt { session_key, reason: Some(b) };
        is_one_line(&Frame::interrupt(&interrupt).expect("short"))?;
    }
}

//! The 34 distinct frames and requests that were captured between a real gateway and a working connector.

use nightdesk_protocol::action::{self, Action};
use nightdesk_protocol::event::{Inbound, encode};
use nightdesk_protocol::http::{cron, enroll, policy, provision, token};
use nightdesk_protocol::passthrough::Forward;
use nightdesk_protocol::upgrade_token::UpgradeToken;
use nightdesk_protocol::{Frame, FromGateway, ToGateway};
use nightdesk_types::event::{Content, Draft, Source};
use nightdesk_types::send::Op;
use nightdesk_types::{AgentId, EntryId, Event, Incarnation, Seq, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

fn captured() -> Vec<Value> {
    let lines = include_str!("../vectors/hermes_frames.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn of_direction(dir: &str) -> Vec<Value> {
    captured().into_iter().filter(|capture| capture["dir"] == dir).collect()
}

#[test]
fn every_capture_is_looked_at() {
    let counts = ["upgrade", "gateway->connector", "connector->gateway", "http"]
        .map(|dir| of_direction(dir).len());

    assert_eq!(counts, [1, 13, 10, 10]);
    assert_eq!(captured().len(), 34);
}

#[test]
fn reads_the_upgrade() {
    let capture = &of_direction("upgrade")[0];
    let bearer = capture["headers"]["authorization"].as_str().expect("a header");

    let token = UpgradeToken::peek(bearer.strip_prefix("Bearer ").expect("a bearer")).unwrap();
    assert_eq!(token.gateway(), "gw-e2e");
    let minted_at = Timestamp::from_second(1_794_697_893 - 300).unwrap();
    assert_eq!(
        token.at_the_door(minted_at).map(|door| door.gateway().to_owned()).unwrap(),
        "gw-e2e"
    );
}

#[test]
fn reads_what_the_gateway_sent() {
    for capture in of_direction("gateway->connector") {
        let frame = &capture["frame"];
        let line = frame.to_string();
        let said = match FromGateway::decode(line.as_bytes()) {
            FromGateway::Hello(hello) => {
                json!({"type": "hello", "platform": hello.platform, "botId": hello.bot_handle})
            }
            FromGateway::InboundAck { buffer_id } => {
                json!({"type": "inbound_ack", "bufferId": buffer_id})
            }
            FromGateway::Outbound(outbound) => {
                assert_scope(&outbound.action, &frame["action"]);
                let frame = Frame::outbound(&outbound).expect("it is not longer than it was");
                serde_json::from_str(frame.as_str()).expect("a frame is JSON")
            }
            FromGateway::GoingIdle => json!({"type": "going_idle"}),
            other @ (FromGateway::Interrupt(_)
            | FromGateway::Sessions(_)
            | FromGateway::InterruptResult(_)
            | FromGateway::Unknown { .. }
            | FromGateway::Malformed(_)) => panic!("{line}: {other:?}"),
        };
        assert_eq!(&said, frame, "nothing is lost and nothing is added");
    }
}

fn assert_scope(action: &Action, wire: &Value) {
    let Action::Send(send) = action else { panic!("the captured actions are sends") };
    assert!(matches!(send.op, Op::Send { .. }));
    assert_eq!(action::scope(&send.metadata).as_deref(), wire["metadata"]["scope_id"].as_str());
    assert_eq!(action::user(&send.metadata).as_deref(), wire["metadata"]["user_id"].as_str());
    assert_eq!(action::thread(&send.metadata).as_deref(), wire["metadata"]["thread_id"].as_str());
}

#[test]
fn sends_what_suited_the_gateway() {
    for capture in of_direction("connector->gateway") {
        let mut suited = capture["frame"].clone();
        // The desk chooses the ids of entries.
        suited.as_object_mut().expect("a frame is an object").remove("bufferId");

        let frame = sent_again(&suited);
        let sent: Value = serde_json::from_str(frame.as_str()).unwrap();
        assert!(holds(&sent, &suited), "{sent} holds {suited}");
    }
}

/// Returns the desk's frame with the same content.
fn sent_again(frame: &Value) -> Frame {
    let (agent, incarnation) = (AgentId::from_uuid(Uuid::nil()), Incarnation::new(5));
    let entry = EntryId { agent, incarnation, seq: Seq::new(1) };
    match ToGateway::decode(frame.to_string().as_bytes()) {
        ToGateway::Descriptor(descriptor) => Frame::descriptor(&descriptor),
        ToGateway::Inbound { event, .. } => {
            let Inbound { source, message, .. } = *event;
            let event = normalised(source, Content::Message(Box::new(message)));
            Frame::entry(entry, &encode(&event, "botD").expect("it is short"))
        }
        ToGateway::PassthroughForward { forward, .. } => {
            let Forward { platform, bot_handle, profile, request } = *forward;
            let source = Source { platform, chat_id: "c".to_owned(), profile, ..Source::default() };
            let event = normalised(source, Content::Passthrough(request));
            Frame::entry(entry, &encode(&event, &bot_handle).expect("it is short"))
        }
        ToGateway::OutboundResult { request_id, result } => {
            Frame::outbound_result(&request_id, &result)
        }
        ToGateway::InterruptInbound { session_key, chat_id, stop_id } => {
            Frame::interrupt_inbound(&session_key, &chat_id, stop_id.as_ref()).expect("it is short")
        }
        ToGateway::GoingIdleAck => Frame::going_idle_ack(),
        other @ (ToGateway::Unknown { .. } | ToGateway::Malformed(_)) => {
            panic!("{frame}: {other:?}")
        }
    }
}

fn normalised(source: Source, content: Content) -> Event {
    let draft = Draft { key: "k".to_owned(), source, content };
    Event::normalise(draft).expect("it suited a client")
}

/// Returns true if `said` contains all of `wanted` with the same values.
fn holds(said: &Value, wanted: &Value) -> bool {
    match (said, wanted) {
        (Value::Object(said), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| said.get(key).is_some_and(|said| holds(said, wanted)))
        }
        (Value::Array(said), Value::Array(wanted)) => {
            said.len() == wanted.len()
                && said.iter().zip(wanted).all(|(said, wanted)| holds(said, wanted))
        }
        (said, wanted) => said == wanted,
    }
}

#[test]
fn reads_the_bodies_of_every_call() {
    for capture in of_direction("http") {
        let body = &capture["body"];
        match capture["path"].as_str().expect("a path") {
            "/relay/provision" => assert_same::<provision::ProvisionRequest>(body),
            "/relay/enroll" => assert_enrols(body),
            "/relay/policy" => assert_same::<policy::PolicyRequest>(body),
            "/api/agent-cron/provision" => assert_same::<cron::CronProvisionRequest>(body),
            "/api/agent-cron/cancel" => assert_same::<cron::CronCancelRequest>(body),
            "/idp/token" => assert_client_credentials(body),
            "/api/oauth/token" => assert_refresh(body, &capture["headers"]),
            "/api/agent-cron/list" | "/.well-known/jwks.json" => assert!(body.is_null()),
            path => panic!("nobody expects a call to {path}"),
        }
    }
}

/// Asserts that decoding and encoding changes nothing.
fn assert_same<T: DeserializeOwned + Serialize>(body: &Value) {
    let read: T = serde_json::from_value(body.clone()).expect("a body is readable");
    assert_eq!(&serde_json::to_value(read).expect("a body is JSON"), body);
}

fn assert_enrols(body: &Value) {
    assert_same::<enroll::EnrollRequest>(body);
    let request: enroll::EnrollRequest = serde_json::from_value(body.clone()).expect("readable");
    assert!(!format!("{request:?}").contains("ENR1"), "a token is not shown");
}

fn assert_client_credentials(body: &Value) {
    let form = body.as_str().expect("a form");
    let request = token::TokenRequest::read(form.as_bytes(), None, None).expect("readable");
    assert_eq!(request.form(), form);
    assert!(!format!("{request:?}").contains("csec"), "a secret is not shown");
}

fn assert_refresh(body: &Value, headers: &Value) {
    let form = body.as_str().expect("a form");
    let header = headers[token::REFRESH_TOKEN_HEADER].as_str();
    let request = token::TokenRequest::read(form.as_bytes(), None, header).expect("readable");
    assert_eq!(request.form(), form);
    let token::TokenRequest::RefreshToken { refresh_token, .. } = request else {
        panic!("a refresh was asked for")
    };
    assert_eq!(Some(refresh_token.expose()), header);
}

//! HTTP bodies: ids that a body claims change nothing (Q14), and every body is either read or refused (Z11).

use nightdesk_protocol::http::{enroll, manage, policy, provision};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::tolerance::junk;

/// Names by which a body might claim an identity. No route reads any of them.
const CLAIMED: [&str; 16] = [
    "tenant",
    "tenantId",
    "tenant_id",
    "agent",
    "agentId",
    "agent_id",
    "instance",
    "instance_id",
    "sub",
    "aud",
    "iss",
    "caller",
    "owner",
    "gateway",
    "gateway_id",
    "org",
];

/// Members that the routes read, with valid and invalid values.
const READ: [&str; 17] = [
    "platform",
    "botId",
    "userId",
    "scopeId",
    "guildId",
    "chatId",
    "channelId",
    "principal",
    "userIds",
    "requireAddress",
    "freeResponseScopes",
    "allowOtherBots",
    "enrollmentToken",
    "gatewayId",
    "routeKeys",
    "instanceId",
    "wakeUrl",
];

fn fitting() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(vec!["discord", "u1", "any", "*", ""]).prop_map(|text| json!(text)),
        1 => any::<bool>().prop_map(|truth| json!(truth)),
        1 => prop::collection::vec("[a-z]{0,3}", 0..3).prop_map(|texts| json!(texts)),
        1 => prop::sample::select(vec![Value::Null, json!(7), json!({ "id": "u1" })]),
    ]
}

fn members(
    names: &[&'static str],
    most: usize,
) -> impl Strategy<Value = Map<String, Value>> + use<> {
    let members =
        prop::collection::btree_map(prop::sample::select(names.to_vec()), fitting(), 0..most);
    members.prop_map(|members| {
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

fn bodies() -> impl Strategy<Value = Map<String, Value>> {
    let filled = json!({ "platform": "discord", "userId": "u1", "userIds": ["u1"], "chatId": "c1",
        "principal": "any", "gatewayId": "gw", "enrollmentToken": "t" });
    let filled = filled.as_object().cloned().unwrap_or_default();
    members(&READ, 8).prop_map(move |members| {
        let mut body = filled.clone();
        body.extend(members);
        body
    })
}

/// Returns the body as a route reads it, or `None` if the route refuses it.
fn read<T: DeserializeOwned>(body: &Value) -> Option<T> {
    serde_json::from_slice(body.to_string().as_bytes()).ok()
}

fn same<T: DeserializeOwned + PartialEq>(body: &Value, claiming: &Value) -> bool {
    read::<T>(body) == read::<T>(claiming)
}

/// The request contains a secret, which has no comparison.
fn same_enrolment(body: &Value, claiming: &Value) -> bool {
    let fields = |body| {
        let read = read::<enroll::EnrollRequest>(body)?;
        serde_json::to_value(read).ok()
    };
    fields(body) == fields(claiming)
}

fn same_to_all(body: &Value, claiming: &Value) -> bool {
    same::<manage::Person>(body, claiming)
        && same::<manage::Scope>(body, claiming)
        && same::<manage::Principal>(body, claiming)
        && same::<manage::AllowList>(body, claiming)
        && same::<policy::PolicyRequest>(body, claiming)
        && same::<provision::ProvisionRequest>(body, claiming)
        && same_enrolment(body, claiming)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // Q14
    #[test]
    fn a_body_that_claims_ids_asks_what_it_asks_without(
        body in bodies(),
        claimed in members(&CLAIMED, 6),
    ) {
        let mut claiming = body.clone();
        claiming.extend(claimed);
        let (body, claiming) = (Value::Object(body), Value::Object(claiming));
        prop_assert!(same_to_all(&body, &claiming), "{}", claiming);
    }

    // Z11
    #[test]
    fn no_body_is_too_odd(body in junk()) {
        prop_assert!(same_to_all(&body, &body));
    }
}

/// The properties above would also hold for a reader that reads nothing.
#[test]
fn a_whole_body_is_read() {
    let body = json!({ "platform": "discord", "userId": "u1", "userIds": ["u1"], "chatId": "c1",
        "principal": "any", "gatewayId": "gw", "enrollmentToken": "t", "tenant": "another" });

    assert!(read::<manage::Person>(&body).is_some_and(|person| person.user_id == "u1"));
    assert!(read::<manage::Scope>(&body).is_some_and(|scope| scope.chat_id.is_some()));
    assert!(
        read::<provision::ProvisionRequest>(&body).is_some_and(|asked| asked.instance_id.is_none())
    );
    assert!(read::<enroll::EnrollRequest>(&body).is_some());
}

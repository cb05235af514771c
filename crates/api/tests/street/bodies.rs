//! A caller is identified by its credential alone: no body changes the reach of another agent.

use std::sync::atomic::{AtomicUsize, Ordering};

use nightdesk_register::AgentReach;
use nightdesk_testdesk::{Household, TestDesk, post, upgrade_token_at};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

const ROUTES: [&str; 7] = [
    "/manage/unlink",
    "/manage/dm-default",
    "/manage/scope",
    "/manage/scope/release",
    "/manage/principal",
    "/manage/allow-list",
    "/relay/policy",
];

/// As many as a debug build asks within half a minute.
const CASES: u32 = 10_000;

/// The callers, in turns, so that none exceeds its rate limit.
const ASKERS: usize = 400;

/// Members that routes read, and members by which a body might claim an identity.
const MEMBERS: [&str; 20] = [
    "platform",
    "botId",
    "userId",
    "scopeId",
    "chatId",
    "principal",
    "userIds",
    "requireAddress",
    "freeResponseScopes",
    "gatewayId",
    "instanceId",
    "wakeUrl",
    "tenant",
    "tenantId",
    "agent",
    "agentId",
    "agent_id",
    "instance",
    "sub",
    "owner",
];

/// Bodies that name another agent in every way.
fn bodies(other: &Household) -> impl Strategy<Value = Value> + use<> {
    let (agent, tenant) = (other.agent.to_string(), other.scope.tenant().to_string());
    let values = vec![
        json!(agent),
        json!(tenant),
        json!(format!("agent:{agent}")),
        json!(other.name),
        json!("bob"),
        json!("bot-bob"),
        json!("bot-ann"),
        json!("discord"),
        json!("any"),
        json!("owner-only"),
        json!(["bob", "eve"]),
        json!([]),
        json!({ "id": agent }),
        json!(7),
        json!(true),
        Value::Null,
    ];
    let member = (prop::sample::select(MEMBERS.to_vec()), prop::sample::select(values));
    prop::collection::vec(member, 0..9).prop_map(|members| {
        let filled = [("platform", json!("discord")), ("userId", json!("bob"))];
        let members = filled.into_iter().chain(members);
        Value::Object(members.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
    })
}

async fn reach(desk: &TestDesk, household: &Household) -> AgentReach {
    let reach = desk.register.store().reach_of(household.scope, household.agent).await;
    reach.expect("read a reach")
}

async fn reaches(desk: &TestDesk, households: &[Household]) -> Vec<AgentReach> {
    let mut all = Vec::with_capacity(households.len());
    for household in households {
        all.push(reach(desk, household).await);
    }
    all
}

/// Calls as ann and returns the status.
async fn ask(desk: &TestDesk, ann: &Household, path: &str, body: &Value) -> u16 {
    let bearer = format!("Bearer {}", upgrade_token_at(&ann.name, &ann.secret, 300));
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    post(desk.address(), path, &headers, body.to_string().as_bytes()).await.status
}

/// An agent whose gateway may do everything.
async fn asker(desk: &TestDesk, nth: usize) -> Household {
    let name = format!("ann-{nth}");
    let ann = desk.household(&name, &name).await;
    let widened = desk.register.store().let_gateways_widen(ann.scope, true).await;
    widened.expect("let a gateway do everything");
    ann
}

// Z11, Q14
#[tokio::test(flavor = "multi_thread")]
async fn no_body_reaches_another_agent() {
    let desk = TestDesk::open().await;
    let bob = desk.household("bob", "gw-2").await;
    desk.grant(bob.scope, bob.agent, bob.bot, "room").await;
    let before = reach(&desk, &bob).await;
    let mut askers = Vec::new();
    for nth in 0..ASKERS {
        askers.push(asker(&desk, nth).await);
    }
    let first = reaches(&desk, &askers).await;

    let (runtime, turn) = (Handle::current(), AtomicUsize::new(0));
    let asked = (prop::sample::select(ROUTES.to_vec()), bodies(&bob));
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let outcome = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&asked, |(path, body)| {
            let ann = &askers[turn.fetch_add(1, Ordering::Relaxed) % ASKERS];
            let (status, after) = runtime.block_on(async {
                let status = ask(&desk, ann, path, &body).await;
                (status, reach(&desk, &bob).await)
            });
            prop_assert!(status < 500 && status != 429, "{} {}: {}", path, body, status);
            prop_assert_eq!(&after, &before, "{} {}", path, body);
            Ok(())
        })
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_ne!(reaches(&desk, &askers).await, first, "requests changed the reach of their callers");
}

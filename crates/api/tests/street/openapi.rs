//! The description of the routes.

use nightdesk_testdesk::{TestDesk, get};
use serde_json::Value;

const KEPT: &str = include_str!("../../../../docs/openapi.json");

#[test]
fn the_description_in_docs_is_that_of_the_routes() {
    let described = nightdesk_api::openapi().to_pretty_json().expect("a description");

    assert_eq!(described.trim(), KEPT.trim(), "`just gen` writes it anew");
}

#[tokio::test]
async fn everybody_gets_the_description() {
    let desk = TestDesk::open().await;

    let answer = get(desk.address(), "/openapi.json", &[]).await;

    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), serde_json::from_str::<Value>(KEPT).expect("JSON"));
}

/// Every call, with its method and path.
fn calls(description: &Value) -> Vec<(String, &Value)> {
    let mut calls = Vec::new();
    for (path, item) in description["paths"].as_object().expect("paths") {
        for (method, call) in item.as_object().expect("the calls of a path") {
            calls.push((format!("{method} {path}"), call));
        }
    }
    calls
}

#[test]
fn every_call_says_what_it_does_and_who_may() {
    let description: Value = serde_json::from_str(KEPT).expect("JSON");
    for (name, call) in calls(&description) {
        assert!(call["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        assert_eq!(call["tags"].as_array().map(Vec::len), Some(1), "{name}");
        let guarded = ["/manage", "/relay/", "/v1/", "/agent-cron/", "/mcp"];
        // A login link is a credential itself.
        let is_guarded =
            guarded.iter().any(|part| name.contains(part)) && name != "post /v1/login/link";
        assert_eq!(call["security"].is_array(), is_guarded, "{name}");
        let tells_problems = call["responses"]["default"].is_object();
        assert!(tells_problems || !is_guarded, "{name}");
    }
}

//! A token is accepted only if all its claims are right.

use proptest::prelude::*;
use serde_json::json;

use super::super::test_pair::{ISSUER, NOW, TENANT_CLAIM};
use super::*;

/// Generates a claim's value: right, nearly right, or of another type.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(ISSUER)),
        Just(json!("acme")),
        Just(json!("")),
        Just(json!(["nightdesk"])),
        Just(json!([])),
        Just(Value::Null),
        Just(json!(true)),
        (-100_000_i64..100_000).prop_map(|off| json!(NOW + off)),
        (-100_000_i64..100_000).prop_map(|off| json!((NOW + off).to_string())),
        any::<f64>().prop_map(|number| json!(number)),
    ]
}

pub(crate) fn claims() -> impl Strategy<Value = BTreeMap<String, Value>> {
    let names = ["iss", "sub", "aud", "exp", "iat", "nbf", "sid", "client_id", "azp", "purpose"];
    let names = names.into_iter().chain([TENANT_CLAIM]).collect::<Vec<_>>();
    let changes = prop::collection::btree_map(prop::sample::select(names), value(), 0..4);
    (changes, 0_i64..4_000).prop_map(|(changes, age)| {
        let good = json!({
            "iss": ISSUER, "sub": "s", "aud": "nightdesk", TENANT_CLAIM: "acme",
            "iat": NOW - age, "exp": NOW - age + 3_600,
        });
        let mut claims: BTreeMap<String, Value> = serde_json::from_value(good).unwrap();
        claims.extend(changes.into_iter().map(|(name, value)| (name.to_owned(), value)));
        claims
    })
}

/// A second implementation of the rules.
pub(crate) fn is_right(claims: &BTreeMap<String, Value>) -> bool {
    let text =
        |name: &str| matches!(claims.get(name), Some(Value::String(text)) if !text.is_empty());
    let no_or_text = |name: &str| !claims.contains_key(name) || text(name);
    let second = |name: &str| claims.get(name).and_then(Value::as_i64);
    let Some((made, ends)) = second("iat").zip(second("exp")) else { return false };
    let begins = if claims.contains_key("nbf") { second("nbf") } else { Some(made) };
    let audience = match claims.get("aud") {
        Some(Value::String(_)) => true,
        Some(Value::Array(all)) => !all.is_empty() && all.iter().all(Value::is_string),
        _ => false,
    };
    claims.get("iss") == Some(&json!(ISSUER))
        && audience
        && text("sub")
        && text(TENANT_CLAIM)
        && ["sid", "client_id", "azp"].into_iter().all(no_or_text)
        && (!text("client_id") || !text("azp") || claims["client_id"] == claims["azp"])
        && !claims.contains_key("purpose")
        && begins.is_some_and(|begins| begins <= NOW + 30)
        && made <= NOW + 30
        && NOW < ends + 30
        && (0..=86_400).contains(&(ends - made))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // Z12, Q13: accepted if and only if every claim is present, typed and right.
    #[test]
    fn accepted_if_and_only_if_all_is_right(claims in claims()) {
        let now = Timestamp::from_second(NOW).unwrap();
        let wanted = ExpectedClaims { issuer: ISSUER, tenant_claim: TENANT_CLAIM };
        let judged = IssuerClaims(claims.clone()).check(&wanted, now);
        prop_assert_eq!(judged.is_some(), is_right(&claims), "{:?}", claims);
    }
}

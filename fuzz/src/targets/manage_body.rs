//! Z11: every body of the management API is read or refused, and an id that a body claims changes nothing of it.

use nightdesk_protocol::http::{cron, enroll, manage, policy, provision};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Members by which a body might claim an identity. No route reads any of them.
const CLAIMS: &str = r#""tenant":"t","tenantId":"t","tenant_id":"t","agent":"a","agentId":"a",
    "instance":"a","sub":"a","aud":"a","iss":"i","caller":"a","owner":"a","gateway":"g","org":"t""#;

pub(super) fn run(body: &[u8]) {
    let Some(claiming) = with_claims(body) else {
        // The property is about objects; any other body must only be refused or read.
        compare_all(body, body);
        return;
    };
    compare_all(body, &claiming);
}

/// Returns an object with the claims before its own members, so that the body's own ones would count.
fn with_claims(body: &[u8]) -> Option<Vec<u8>> {
    let rest = skip_space(body).strip_prefix(b"{")?;
    let is_empty = skip_space(rest).starts_with(b"}");
    let separator: &[u8] = if is_empty { b"" } else { b"," };
    Some([b"{", CLAIMS.as_bytes(), separator, rest].concat())
}

/// Skips the white space of JSON, which is less than that of ASCII.
fn skip_space(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| b" \t\r\n".contains(byte);
    let begin = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    &text[begin..]
}

fn compare_all(body: &[u8], claiming: &[u8]) {
    compare::<manage::Person>(body, claiming);
    compare::<manage::Scope>(body, claiming);
    compare::<manage::Principal>(body, claiming);
    compare::<manage::AllowList>(body, claiming);
    compare::<policy::PolicyRequest>(body, claiming);
    compare::<provision::ProvisionRequest>(body, claiming);
    compare::<enroll::EnrollRequest>(body, claiming);
    compare::<cron::CronCancelRequest>(body, claiming);
    compare::<cron::CronDoneRequest>(body, claiming);
}

/// Compares the requests as they would be sent on, because secrets have no comparison.
fn compare<T: DeserializeOwned + Serialize>(body: &[u8], claiming: &[u8]) {
    let read = |body: &[u8]| -> Option<Value> {
        let request: T = serde_json::from_slice(body).ok()?;
        serde_json::to_value(request).ok()
    };
    assert_eq!(read(body), read(claiming), "{}", String::from_utf8_lossy(body));
}

//! Tools for what agents send to each other.

use std::sync::Arc;

use aws_lc_rs::digest;
use nightdesk_courier::{ConnectorError, Party, is_passing};
use nightdesk_desk::shelf::Asker;
use nightdesk_desk::{Desk, Letters};
use nightdesk_mcp::Failed;
use nightdesk_protocol::http::letters::{Op, Send, Sent};
use nightdesk_types::limits::CALL_REMEMBERED_MS;
use serde_json::{Map, Value};

use super::{given, told};
use crate::letters::{reachable, sending};

pub(super) async fn list_agents(desk: &Arc<Desk>, by: Asker) -> Result<Value, Failed> {
    told(reachable(&of(desk, by)).await.map_err(|error| no_letter(&error))?)
}

pub(super) async fn send(
    desk: &Arc<Desk>,
    by: Asker,
    op: Op,
    (call, with): (&str, Map<String, Value>),
) -> Result<Value, Failed> {
    let letters = of(desk, by);
    let said = Value::Object(with.clone()).to_string();
    let send: Send = given(with)?;
    let dispatch_id = send.dispatch_id.clone().or_else(|| Some(made_up(&letters, op, call, &said)));
    let came = sending::send(&letters, Send { op, dispatch_id, ..send }).await;
    let came = came.map_err(|error| no_letter(&error))?;
    refused(&came).map_or_else(|| told(&came), Err)
}

/// Why a letter went no way at all. A result would be taken for success.
fn refused(sent: &Sent) -> Option<Failed> {
    if sent.response.is_some() || sent.dispatched.iter().any(|way| way.ok) {
        return None;
    }
    let nobody = || "no such agent; list_agents says who can be written to".to_owned();
    let words = sent.dispatched.iter().find_map(|way| way.error.clone()).unwrap_or_else(nobody);
    let cause = sent.dispatched.iter().find_map(|way| way.cause.as_deref());
    Some(failed(cause.unwrap_or_default(), words))
}

/// By what a repeat of a call is recognised that gives no id. A client that asks again for want of an answer does so at once,
/// with the same id of the call; one that starts anew counts its calls anew, so the same id later on is another letter.
fn made_up(letters: &Letters, op: Op, call: &str, said: &str) -> String {
    let span = letters.now().0 / i64::from(CALL_REMEMBERED_MS);
    let digest = digest::digest(&digest::SHA256, format!("{span} {call} {op:?} {said}").as_bytes());
    format!("call-{}", hex::encode(digest))
}

fn of(desk: &Arc<Desk>, (scope, agent): Asker) -> Letters {
    Letters::by(desk, Party { scope, agent })
}

fn no_letter(error: &ConnectorError) -> Failed {
    failed(error.slug(), error.to_string())
}

fn failed(cause: &str, words: String) -> Failed {
    if is_passing(cause) { Failed::Unavailable(words) } else { Failed::Refused(words) }
}

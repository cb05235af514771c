//! Tools for letters between agents.

use std::sync::Arc;

use aws_lc_rs::digest;
use nightdesk_desk::LetterContext;
use nightdesk_desk::letters::letter_sender;
use nightdesk_letters::{ConnectorError, Party, is_temporary};
use nightdesk_mcp::{ToolCall, ToolError};
use nightdesk_protocol::delivery::Millis;
use nightdesk_protocol::http::letters::{LetterOp, LetterSendRequest, LetterSendResponse};
use nightdesk_types::limits::CALL_REMEMBERED_MS;
use serde_json::Value;

use super::{read_arguments, write_result};
use crate::letters::{reachable, sending};

pub(super) async fn list_agents(
    context: &Arc<LetterContext>,
    agent: Party,
) -> Result<Value, ToolError> {
    let agents = reachable(&letter_sender(context, agent)).await;
    write_result(agents.map_err(|error| send_error(&error))?)
}

pub(super) async fn send(
    context: &Arc<LetterContext>,
    agent: Party,
    op: LetterOp,
    call: ToolCall,
) -> Result<Value, ToolError> {
    let letters = letter_sender(context, agent);
    let ToolCall { id, arguments } = call;
    let text = Value::Object(arguments.clone()).to_string();
    let send: LetterSendRequest = read_arguments(arguments)?;
    let dispatch_id = send.dispatch_id.clone();
    let dispatch_id =
        dispatch_id.or_else(|| Some(derive_dispatch_id(op, &id, &text, letters.now())));
    let result = sending::send(&letters, LetterSendRequest { op, dispatch_id, ..send }).await;
    let result = result.map_err(|error| send_error(&error))?;
    failure_of(&result).map_or_else(|| write_result(&result), Err)
}

/// The failure of a letter that was delivered in no way at all. Clients take every result for success.
fn failure_of(sent: &LetterSendResponse) -> Option<ToolError> {
    if sent.response.is_some() || sent.dispatched.iter().any(|way| way.ok) {
        return None;
    }
    let unknown =
        || "no such agent; list_agents lists the agents that can receive letters".to_owned();
    let words = sent.dispatched.iter().find_map(|way| way.error.clone()).unwrap_or_else(unknown);
    let cause = sent.dispatched.iter().find_map(|way| way.cause.as_deref());
    Some(tool_error(cause.unwrap_or_default(), words))
}

/// The id by which a repeated call without an id is recognised. A client that retries for want of a response does so at
/// once, with the same id of the call; a restarted client numbers its calls anew, so the same id later is another letter.
fn derive_dispatch_id(op: LetterOp, call: &str, text: &str, now: Millis) -> String {
    let span = now.0 / i64::from(CALL_REMEMBERED_MS);
    let digest = digest::digest(&digest::SHA256, format!("{span} {call} {op:?} {text}").as_bytes());
    format!("call-{}", hex::encode(digest))
}

fn send_error(error: &ConnectorError) -> ToolError {
    tool_error(error.slug(), error.to_string())
}

fn tool_error(cause: &str, words: String) -> ToolError {
    if is_temporary(cause) { ToolError::Unavailable(words) } else { ToolError::Refused(words) }
}

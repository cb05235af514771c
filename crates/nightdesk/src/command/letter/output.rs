//! Letters as an operator sees them.

use nightdesk_letters::Letter;
use serde_json::{Value, json};

/// Returns a letter and its result.
pub(super) fn letter(letter: &Letter) -> Value {
    let (reply, replied_at) = match &letter.reply {
        Some((words, at)) => (json!(words), json!(at.to_string())),
        None => (Value::Null, Value::Null),
    };
    json!({
        "letter_id": letter.id,
        "to_agent_id": letter.to,
        "dispatch_id": letter.dispatch_id,
        "route": letter.route.slug(),
        "state": letter.state.slug(),
        "acked": letter.is_acked,
        "hop": letter.hop,
        "seq": letter.seq,
        "sent_at": letter.sent_at.to_string(),
        "due_at": letter.due_at.map(|at| at.to_string()),
        "reply": reply,
        "replied_at": replied_at,
    })
}

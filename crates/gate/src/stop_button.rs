//! The button that stops a running turn, under an answer that its agent marks as unfinished.

use nightdesk_types::send::{Op, RUNNING, STOP_BUTTON, STOP_PROMPT};
use nightdesk_types::{AgentId, Send};
use serde_json::Value;

/// Returns the id of the prompt of an agent's stop buttons.
pub(crate) fn stop_prompt(agent: AgentId) -> String {
    format!("{STOP_PROMPT}{}", agent.uuid().simple())
}

/// Returns true if a send asks for the button.
pub(crate) fn wants_button(send: &Send) -> bool {
    let may_have_one = matches!(send.op, Op::Send { .. } | Op::Edit { .. });
    may_have_one && send.metadata.get(RUNNING) == Some(&Value::Bool(true))
}

/// Returns the send with the desk's own mark for the adapter: the prompt of the button, or null to remove the button. An
/// agent's own value of the mark never counts.
pub(crate) fn mark_button(mut send: Send, prompt: Option<String>) -> Send {
    send.metadata.remove(STOP_BUTTON);
    let ends = send.metadata.get(RUNNING) == Some(&Value::Bool(false));
    if let Some(prompt) = prompt {
        send.metadata.insert(STOP_BUTTON.to_owned(), prompt.into());
    } else if ends && matches!(send.op, Op::Edit { .. }) {
        send.metadata.insert(STOP_BUTTON.to_owned(), Value::Null);
    }
    send
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};
    use uuid::Uuid;

    use super::*;

    fn send(op: Op, metadata: Value) -> Send {
        let metadata = serde_json::from_value::<Map<String, Value>>(metadata).unwrap();
        Send { chat_id: "c1".to_owned(), op, metadata }
    }

    fn text() -> Op {
        Op::Send { content: "so far".to_owned(), reply_to: None }
    }

    fn edit() -> Op {
        Op::Edit { message_id: "m1".to_owned(), content: "done".to_owned() }
    }

    #[test]
    fn only_an_unfinished_answer_has_a_button() {
        let cases = [
            (text(), json!({ "running": true }), true),
            (edit(), json!({ "running": true }), true),
            (text(), json!({ "running": "true" }), false),
            (text(), json!({}), false),
            (edit(), json!({ "running": false }), false),
            (Op::Typing { content: None }, json!({ "running": true }), false),
        ];
        for (op, metadata, wants) in cases {
            assert_eq!(wants_button(&send(op, metadata.clone())), wants, "{metadata}");
        }
    }

    #[test]
    fn an_agent_cannot_choose_the_prompt_of_the_button() {
        let agent = AgentId::from_uuid(Uuid::from_u128(1));
        let forged = json!({ "running": true, "stop_button": "stop.other" });
        let shown = mark_button(send(text(), forged.clone()), Some(stop_prompt(agent)));
        assert_eq!(shown.metadata["stop_button"], stop_prompt(agent));
        let hidden = mark_button(send(text(), forged), None);
        assert_eq!(hidden.metadata.get("stop_button"), None);
    }

    #[test]
    fn the_end_of_an_answer_removes_its_button() {
        let ended = mark_button(send(edit(), json!({ "running": false })), None);
        assert_eq!(ended.metadata.get("stop_button"), Some(&Value::Null));
        let plain = mark_button(send(edit(), json!({})), None);
        assert_eq!(plain.metadata.get("stop_button"), None, "other buttons stay");
    }
}

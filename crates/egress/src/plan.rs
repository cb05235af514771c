//! Plans the calls of a send.

use nightdesk_port::PlatformCapabilities;
use nightdesk_types::Send;
use nightdesk_types::limits::PARTS_MAX;
use nightdesk_types::send::Op;
use tokio::time::Instant;

use crate::account::Account;
use crate::split::{LengthLimit, MESSAGE_LENGTH_MIN, split};

/// The calls of a send, and their deadline.
pub(crate) struct SendPlan {
    pub(crate) account: Account,
    pub(crate) chat: String,
    pub(crate) calls: Vec<Send>,
    pub(crate) until: Instant,
}

/// The reason why a send is refused before its first call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlanError {
    /// The platform does not support it. The text is the same as for an unknown op.
    #[error("op not supported: {0}")]
    Unsupported(&'static str),
    /// It has too many parts for the chat.
    #[error("message too long: more than {PARTS_MAX} parts of {0}; nothing was sent")]
    TooManyParts(usize),
    /// It is too long, and only a new message can be split.
    #[error("{op} too long: more than {max}, and only a send can be split; nothing was done")]
    TooLong {
        /// The name of the operation.
        op: &'static str,
        /// The longest permitted text.
        max: usize,
    },
    /// It is too long for one message and contains only white space.
    #[error("message empty; nothing was sent")]
    Nothing,
}

/// Returns the calls of a send, in order: one, or one for each part of a long text.
///
/// An edit that is too long is refused and not cut: the rest would be lost silently, and the parts after the first
/// belong to the old text.
pub(crate) fn plan_calls(send: &Send, can: &PlatformCapabilities) -> Result<Vec<Send>, PlanError> {
    let op = send.op.name();
    if !can.ops.contains(&op) {
        return Err(PlanError::Unsupported(op));
    }
    let max = usize::try_from(can.message_length_max).unwrap_or(usize::MAX);
    let length = LengthLimit { max: max.max(MESSAGE_LENGTH_MIN), unit: can.length_unit };
    match &send.op {
        Op::Send { content, reply_to } => plan_parts(send, content, reply_to.as_deref(), length),
        Op::FollowUp { content, .. } => plan_parts(send, content, None, length),
        Op::Edit { content, .. } | Op::Draft { content, .. } | Op::Prompt { content, .. }
            if !length.fits(content) =>
        {
            Err(PlanError::TooLong { op, max: length.max })
        }
        Op::Edit { .. }
        | Op::Typing { .. }
        | Op::Delete { .. }
        | Op::Draft { .. }
        | Op::TaskCard { .. }
        | Op::TaskCardStop { .. }
        | Op::SendMedia { .. }
        | Op::Prompt { .. }
        | Op::React { .. }
        | Op::ThreadCreate { .. }
        | Op::ThreadRename { .. }
        | Op::GetChatInfo => Ok(vec![send.clone()]),
    }
}

fn plan_parts(
    send: &Send,
    content: &str,
    reply_to: Option<&str>,
    length: LengthLimit,
) -> Result<Vec<Send>, PlanError> {
    let LengthLimit { max, unit } = length;
    // A text that cannot fit even with much white space is refused without splitting, which costs time.
    if length.measure(content) > max.saturating_mul(PARTS_MAX * 2) {
        return Err(PlanError::TooManyParts(max));
    }
    let parts = split(content, max, unit);
    match parts.len() {
        0 => Err(PlanError::Nothing),
        1..=PARTS_MAX => Ok(parts
            .into_iter()
            .enumerate()
            .map(|(at, content)| {
                // Only the first part is a reply; the others follow it.
                let reply_to = reply_to.filter(|_| at == 0).map(str::to_owned);
                Send { op: part_op(&send.op, content, reply_to), ..send.clone() }
            })
            .collect()),
        _ => Err(PlanError::TooManyParts(max)),
    }
}

/// Returns the operation for a part of a text.
fn part_op(whole: &Op, content: String, reply_to: Option<String>) -> Op {
    if let Op::FollowUp { session_key, kind, .. } = whole {
        let (session_key, kind) = (session_key.clone(), kind.clone());
        return Op::FollowUp { session_key, kind, content };
    }
    Op::Send { content, reply_to }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use nightdesk_port::{CallRate, LengthUnit};
    use serde_json::Map;

    use super::*;

    fn can(ops: &[&'static str]) -> PlatformCapabilities {
        let pace = CallRate::per_second(NonZeroU32::MIN);
        PlatformCapabilities {
            label: String::new(),
            emoji: "🔌",
            is_pii_safe: false,
            message_length_max: 100,
            length_unit: LengthUnit::Chars,
            markdown_dialect: String::new(),
            hint: String::new(),
            ops: ops.to_vec(),
            threads: false,
            chat_pace: pace,
            bot_pace: pace,
        }
    }

    fn send(op: Op) -> Send {
        Send { chat_id: "c1".to_owned(), op, metadata: Map::new() }
    }

    fn text(parts: usize) -> Send {
        let content = vec!["x".repeat(100); parts].join("\n");
        send(Op::Send { content, reply_to: Some("m1".to_owned()) })
    }

    #[test]
    fn only_the_first_part_is_a_reply() {
        let calls = plan_calls(&text(3), &can(&["send"])).unwrap();
        let replies = calls.iter().map(|call| {
            let Op::Send { reply_to, .. } = &call.op else { panic!("a send becomes sends") };
            reply_to.as_deref()
        });

        assert_eq!(replies.collect::<Vec<_>>(), [Some("m1"), None, None]);
    }

    #[test]
    fn parts_are_bounded() {
        let many = Err(PlanError::TooManyParts(100));
        let short = send(Op::Send { content: "x\n\n".repeat(10_000), reply_to: None });

        assert_eq!(
            plan_calls(&text(PARTS_MAX), &can(&["send"])).map(|calls| calls.len()),
            Ok(PARTS_MAX)
        );
        assert_eq!(plan_calls(&text(PARTS_MAX + 1), &can(&["send"])), many, "past the limit");
        assert_eq!(plan_calls(&short, &can(&["send"])), many, "counted before it is cut");
    }

    #[test]
    fn an_edit_is_whole_or_refused() {
        let edit = |chars| {
            let content = "x".repeat(chars);
            plan_calls(&send(Op::Edit { message_id: "m1".to_owned(), content }), &can(&["edit"]))
        };

        assert_eq!(edit(100).map(|calls| calls.len()), Ok(1));
        assert_eq!(edit(101), Err(PlanError::TooLong { op: "edit", max: 100 }));
    }

    #[test]
    fn what_the_platform_cannot_do_is_not_asked_of_it() {
        assert_eq!(plan_calls(&text(1), &can(&["edit"])), Err(PlanError::Unsupported("send")));
        let void = send(Op::Send { content: " ".repeat(101), reply_to: None });
        assert_eq!(plan_calls(&void, &can(&["send"])), Err(PlanError::Nothing));
    }
}

//! Plan: which calls a send is.

use nightdesk_port::Capabilities;
use nightdesk_types::Send;
use nightdesk_types::limits::PARTS_MAX;
use nightdesk_types::send::Op;

use crate::split::{Length, MESSAGE_LENGTH_MIN, split};

/// Why a send is not even begun.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsayable {
    /// The platform does not have it. The words are those for an op nobody knows.
    #[error("op not supported: {0}")]
    Unsupported(&'static str),
    /// It would fill the chat.
    #[error("message too long: more than {PARTS_MAX} parts of {0}; nothing was sent")]
    TooManyParts(usize),
    /// Only a new message can become several.
    #[error("{op} too long: more than {max}, and only a send can be split; nothing was done")]
    TooLong {
        /// What was to be done.
        op: &'static str,
        /// How long it may be.
        max: usize,
    },
    /// There is much of it, and it is all white space.
    #[error("message empty; nothing was sent")]
    Nothing,
}

/// The calls that do what a send asks, in order: one, or one for each part of a long text.
///
/// An edit that is too long is refused, not cut: what it leaves out would be lost in silence,
/// and the parts after the first belong to the old text.
pub(crate) fn plan(send: &Send, can: &Capabilities) -> Result<Vec<Send>, Unsayable> {
    let op = send.op.name();
    if !can.ops.contains(&op) {
        return Err(Unsayable::Unsupported(op));
    }
    let max = usize::try_from(can.message_length_max).unwrap_or(usize::MAX);
    let length = Length { max: max.max(MESSAGE_LENGTH_MIN), unit: can.length_unit };
    match &send.op {
        Op::Send { content, reply_to } => parts(send, content, reply_to.as_deref(), length),
        Op::FollowUp { content, .. } => parts(send, content, None, length),
        Op::Edit { content, .. } | Op::Draft { content, .. } | Op::Prompt { content, .. }
            if !length.fits(content) =>
        {
            Err(Unsayable::TooLong { op, max: length.max })
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

fn parts(
    send: &Send,
    content: &str,
    reply_to: Option<&str>,
    length: Length,
) -> Result<Vec<Send>, Unsayable> {
    let Length { max, unit } = length;
    // What cannot fit, however much of it is white space, is not even cut: that costs time.
    if length.of(content) > max.saturating_mul(PARTS_MAX * 2) {
        return Err(Unsayable::TooManyParts(max));
    }
    let parts = split(content, max, unit);
    match parts.len() {
        0 => Err(Unsayable::Nothing),
        1..=PARTS_MAX => Ok(parts
            .into_iter()
            .enumerate()
            .map(|(at, content)| {
                // The whole answers one message; the parts after the first follow it by themselves.
                let reply_to = reply_to.filter(|_| at == 0).map(str::to_owned);
                Send { op: part(&send.op, content, reply_to), ..send.clone() }
            })
            .collect()),
        _ => Err(Unsayable::TooManyParts(max)),
    }
}

/// A part of a text, said as the whole was to be.
fn part(whole: &Op, content: String, reply_to: Option<String>) -> Op {
    if let Op::FollowUp { session_key, kind, .. } = whole {
        let (session_key, kind) = (session_key.clone(), kind.clone());
        return Op::FollowUp { session_key, kind, content };
    }
    Op::Send { content, reply_to }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use nightdesk_port::{LengthUnit, Pace};
    use serde_json::Map;

    use super::*;

    fn can(ops: &[&'static str]) -> Capabilities {
        let pace = Pace::per_second(NonZeroU32::MIN);
        Capabilities {
            label: String::new(),
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
        let calls = plan(&text(3), &can(&["send"])).unwrap();
        let replies = calls.iter().map(|call| {
            let Op::Send { reply_to, .. } = &call.op else { panic!("a send becomes sends") };
            reply_to.as_deref()
        });

        assert_eq!(replies.collect::<Vec<_>>(), [Some("m1"), None, None]);
    }

    #[test]
    fn parts_are_bounded() {
        let many = Err(Unsayable::TooManyParts(100));
        let short = send(Op::Send { content: "x\n\n".repeat(10_000), reply_to: None });

        assert_eq!(plan(&text(PARTS_MAX), &can(&["send"])).map(|calls| calls.len()), Ok(PARTS_MAX));
        assert_eq!(plan(&text(PARTS_MAX + 1), &can(&["send"])), many, "past the limit");
        assert_eq!(plan(&short, &can(&["send"])), many, "counted before it is cut");
    }

    #[test]
    fn an_edit_is_whole_or_refused() {
        let edit = |chars| {
            let content = "x".repeat(chars);
            plan(&send(Op::Edit { message_id: "m1".to_owned(), content }), &can(&["edit"]))
        };

        assert_eq!(edit(100).map(|calls| calls.len()), Ok(1));
        assert_eq!(edit(101), Err(Unsayable::TooLong { op: "edit", max: 100 }));
    }

    #[test]
    fn what_the_platform_cannot_do_is_not_asked_of_it() {
        assert_eq!(plan(&text(1), &can(&["edit"])), Err(Unsayable::Unsupported("send")));
        let void = send(Op::Send { content: " ".repeat(101), reply_to: None });
        assert_eq!(plan(&void, &can(&["send"])), Err(Unsayable::Nothing));
    }
}

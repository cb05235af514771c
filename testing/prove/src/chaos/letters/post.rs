//! Sends a letter to one node after the other until one gives a clear answer, always under the same id.

use nightdesk_judge::Event;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{AGAIN_MS, ASKS, ATTEMPTS_MAX, Diary};
use crate::chance::Dice;
use crate::chaos::asking::Heard;
use crate::chaos::plan::Plan;

/// Time that a sender waits for a reply.
const REPLY_WAIT_MS: u64 = 2_500;

/// Percentage of letters that are sent again although the desk acknowledged them.
const REPEATED_PERCENT: u64 = 15;

/// Status that stands for a missing or unclear answer.
const UNCLEAR: u16 = 0;

/// Operation of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Notify,
    Deliver,
    Wake,
    Exchange,
}

impl Op {
    /// Returns a random operation that asks for no reply.
    pub(super) const fn thrown(dice: &mut Dice) -> Self {
        match dice.throw() % 10 {
            0..4 => Self::Notify,
            4..8 => Self::Deliver,
            _ => Self::Wake,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Notify => "notify",
            Self::Deliver => "deliver",
            Self::Wake => "wake",
            Self::Exchange => "exchange",
        }
    }
}

/// A letter.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// Sender and recipient, by their indexes among the members.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) nonce: String,
    /// True if this is permitted.
    pub(super) may: bool,
    pub(super) op: Op,
}

impl Letter {
    /// Records that it is sent from now on.
    pub(super) fn begins(&self, diary: &Diary) {
        diary.notes.note(Event::LetterSend {
            id: self.nonce.clone(),
            from: Plan::agent(self.from),
            to: Plan::agent(self.to),
            nonce: self.nonce.clone(),
            may: self.may,
            asks: self.op == Op::Exchange,
        });
    }

    /// Sends it until its result is clear, and sometimes once more. Returns true if the result is clear.
    pub(super) async fn send(&self, diary: &Diary, dice: &mut Dice) -> bool {
        let repeated = self.op != Op::Exchange && dice.percent(REPEATED_PERCENT);
        let mut clear_left = 1 + u32::from(repeated);
        for attempt in 1..=ATTEMPTS_MAX {
            let node = diary.plan.nodes[dice.below(diary.plan.nodes.len())];
            let (status, reply) = self.sent(diary, node).await;
            let id = self.nonce.clone();
            diary.notes.note(Event::LetterAck { id, attempt, status, reply });
            clear_left -= u32::from(self.is_clear(status));
            if clear_left == 0 {
                return true;
            }
            if diary.is_stopping() && attempt > 1 {
                return false;
            }
            sleep(dice.between_ms(AGAIN_MS.0, AGAIN_MS.1)).await;
        }
        false
    }

    /// Returns true if a status makes the result clear.
    fn is_clear(&self, status: u16) -> bool {
        match status {
            200 | 403 => true,
            504 => self.op == Op::Exchange,
            _ => false,
        }
    }

    async fn sent(&self, diary: &Diary, node: std::net::SocketAddr) -> (u16, Option<String>) {
        let body = self.body(diary);
        match diary.ask(node, self.from, ("/v1/letters", Some(&body))).await {
            Heard::Nobody | Heard::Nothing => (UNCLEAR, None),
            Heard::Answer(status, said) => meant(self.op, status, &said),
        }
    }

    fn body(&self, diary: &Diary) -> Value {
        let verb = if self.op == Op::Exchange { ASKS } else { "tells" };
        let mut body = json!({
            "op": self.op.word(), "agent": diary.plan.cast.members[self.to].agent,
            "dispatch_id": self.nonce, "message": format!("{} {verb} whatever", self.nonce),
        });
        if self.op == Op::Exchange {
            body["timeout_ms"] = REPLY_WAIT_MS.into();
        }
        body
    }
}

/// Returns the meaning of a response. A response without a way of delivery has not accepted the letter.
fn meant(op: Op, status: u16, said: &Value) -> (u16, Option<String>) {
    if status != 200 {
        return (status, None);
    }
    if op == Op::Exchange {
        let reply = said["response"]["content"].as_str().map(str::to_owned);
        return (status, reply);
    }
    let ways = said["dispatched"].as_array();
    let is_taken = ways.is_some_and(|ways| ways.iter().any(|way| way["ok"] == true));
    (if is_taken { status } else { UNCLEAR }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_taken_if_it_went_some_way() {
        let cases = [
            (Op::Deliver, 200, json!({ "dispatched": [{ "ok": true }] }), (200, None)),
            (Op::Notify, 200, json!({ "dispatched": [{ "ok": false }] }), (0, None)),
            (Op::Notify, 200, json!({ "dispatched": [] }), (0, None)),
            (Op::Wake, 403, json!({}), (403, None)),
            (Op::Exchange, 200, json!({ "response": { "content": "yes" } }), (200, Some("yes"))),
            (Op::Exchange, 504, json!({}), (504, None)),
        ];
        for (op, status, said, (want, reply)) in cases {
            assert_eq!(meant(op, status, &said), (want, reply.map(str::to_owned)), "{op:?} {said}");
        }
    }

    #[test]
    fn who_waits_for_a_reply_is_told_clearly_that_there_is_none() {
        let letter = |op| Letter { from: 0, to: 1, nonce: String::new(), may: true, op };
        assert!(letter(Op::Deliver).is_clear(200) && letter(Op::Deliver).is_clear(403));
        assert!(!letter(Op::Deliver).is_clear(504) && letter(Op::Exchange).is_clear(504));
        assert!(!letter(Op::Deliver).is_clear(503) && !letter(Op::Exchange).is_clear(UNCLEAR));
    }
}

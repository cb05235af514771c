//! Makes the requests of an agent without a connection of its own, each to a random node.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::Hall;
use crate::chance::Dice;
use crate::chaos::asking::{self, Heard, Request};

/// Timeout of a response that does not wait for anything but the desk. A send may take 30 seconds.
pub(super) const RESPONSE_WAIT: Duration = Duration::from_secs(40);

/// Range of the delay before a request is repeated, in milliseconds.
const AGAIN_MS: (u64, u64) = (100, 900);

/// Percentage of attempts whose response is lost, and the range of the time until then in milliseconds.
const LOST_PERCENT: u64 = 5;
const LOST_MS: (u64, u64) = (0, 300);

/// The code of a refused tool call. One that may succeed later has another.
const REFUSED_CODE: i64 = -32_602;

/// The interface by which an agent calls its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    Routes,
    /// The MCP tools. There is none for going idle, so the agent uses the route.
    Tools,
}

/// A request to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineCall {
    Take,
    Ack,
    Send,
    Idle,
}

impl LineCall {
    const fn route(self) -> &'static str {
        match self {
            Self::Take => "/v1/line/take",
            Self::Ack => "/v1/line/ack",
            Self::Send => "/v1/line/send",
            Self::Idle => "/v1/line/idle",
        }
    }

    const fn tool(self) -> Option<&'static str> {
        match self {
            Self::Take => Some("inbox_take"),
            Self::Ack => Some("inbox_ack"),
            Self::Send => Some("send"),
            Self::Idle => None,
        }
    }
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Done(Value),
    /// The line is gone.
    Gone,
    /// No clear response: the same request may be made again.
    Unclear,
}

/// Makes the requests of one agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller<'a> {
    pub(super) hall: &'a Hall,
    pub(super) member: usize,
    pub(super) calls: Calls,
}

impl Caller<'_> {
    /// Makes a request once.
    pub(super) async fn ask(
        self,
        call: LineCall,
        body: &Value,
        wait: Duration,
        dice: &mut Dice,
    ) -> Reply {
        let plan = &self.hall.plan;
        let node = plan.nodes[dice.below(plan.nodes.len())];
        let token = plan.cast.members[self.member].token(&self.hall.clock);
        let request = |path, body| Request { token: token.expose(), path, body: Some(body), wait };
        match call.tool().filter(|_| self.calls == Calls::Tools) {
            Some(tool) => {
                let params = json!({ "name": tool, "arguments": body });
                let body = json!({
                    "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params,
                });
                tool_reply(asking::ask(node, request("/mcp", &body)).await)
            }
            None => route_reply(asking::ask(node, request(call.route(), body)).await),
        }
    }

    /// Repeats a request at one node after the other until its outcome is clear. Some responses are lost on their way.
    pub(super) async fn until_clear(self, call: LineCall, body: Value, mut dice: Dice) -> Reply {
        loop {
            let is_lost = !self.hall.told.borrow().settled && dice.percent(LOST_PERCENT);
            let wait = if is_lost { dice.between_ms(LOST_MS.0, LOST_MS.1) } else { RESPONSE_WAIT };
            let reply = self.ask(call, &body, wait, &mut dice).await;
            if reply != Reply::Unclear || self.hall.told.borrow().over {
                return reply;
            }
            rest(&mut dice).await;
        }
    }
}

/// Waits before a repeat.
pub(super) async fn rest(dice: &mut Dice) {
    sleep(dice.between_ms(AGAIN_MS.0, AGAIN_MS.1)).await;
}

fn route_reply(heard: Heard) -> Reply {
    match heard {
        Heard::Answer(200 | 204, body) => Reply::Done(body),
        Heard::Answer(410, _) => Reply::Gone,
        Heard::Answer(..) | Heard::Nobody | Heard::Nothing => Reply::Unclear,
    }
}

fn tool_reply(heard: Heard) -> Reply {
    let Heard::Answer(200, body) = heard else { return Reply::Unclear };
    match (body["result"].get("structuredContent"), body["error"]["code"].as_i64()) {
        (Some(result), _) => Reply::Done(result.clone()),
        (None, Some(REFUSED_CODE)) => Reply::Gone,
        (None, _) => Reply::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_says_what_became_of_a_request() {
        let done = json!({ "line": "l" });
        let cases = [
            (route_reply(Heard::Answer(200, done.clone())), Reply::Done(done.clone())),
            (route_reply(Heard::Answer(204, Value::Null)), Reply::Done(Value::Null)),
            (route_reply(Heard::Answer(410, json!({}))), Reply::Gone),
            (route_reply(Heard::Answer(503, json!({}))), Reply::Unclear),
            (route_reply(Heard::Nothing), Reply::Unclear),
            (
                tool_reply(Heard::Answer(200, json!({ "result": { "structuredContent": done } }))),
                Reply::Done(done.clone()),
            ),
            (
                tool_reply(Heard::Answer(200, json!({ "error": { "code": REFUSED_CODE } }))),
                Reply::Gone,
            ),
            (tool_reply(Heard::Answer(200, json!({ "error": { "code": 1 } }))), Reply::Unclear),
            (tool_reply(Heard::Answer(503, json!({}))), Reply::Unclear),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
    }
}

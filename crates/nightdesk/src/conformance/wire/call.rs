//! The calls of a line without a WebSocket: requests to `/v1/line/…`, and calls of the tools of the same meaning.

use serde_json::{Map, Value, json};

use super::http::PlainHttp;

const MCP_PATH: &str = "/mcp";
const LINE_PATH: &str = "/v1/line/";

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::conformance) enum LineCallKind {
    Take,
    Ack,
    Send,
    Stopped,
}

/// The form of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallForm {
    Route,
    Tool,
}

/// A call of a line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::conformance) struct LineCall {
    pub(in crate::conformance) kind: LineCallKind,
    pub(in crate::conformance) arguments: Map<String, Value>,
    form: CallForm,
}

impl LineCall {
    /// Reads a request. `None`: it is no call of a line.
    pub(in crate::conformance) fn read(request: &PlainHttp) -> Option<Self> {
        let path = request.path();
        let body: Value = serde_json::from_slice(&request.body).ok()?;
        if let Some(route) = path.strip_prefix(LINE_PATH) {
            let arguments = body.as_object()?.clone();
            return Some(Self { kind: kind_of_route(route)?, arguments, form: CallForm::Route });
        }
        if path != MCP_PATH || body["method"] != "tools/call" {
            return None;
        }
        let kind = kind_of_tool(body["params"]["name"].as_str()?)?;
        let arguments = body["params"]["arguments"].as_object().cloned().unwrap_or_default();
        Some(Self { kind, arguments, form: CallForm::Tool })
    }

    /// Returns true for a take that opens a line.
    pub(in crate::conformance) fn is_dial(&self) -> bool {
        self.kind == LineCallKind::Take && self.arguments.get("line").is_none_or(Value::is_null)
    }

    pub(in crate::conformance) fn acked(&self) -> Vec<String> {
        let ids = self.arguments.get("buffer_ids").and_then(Value::as_array);
        ids.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the text of a send.
    pub(in crate::conformance) fn content(&self) -> Option<&str> {
        self.arguments.get("action")?.get("content")?.as_str()
    }

    /// Returns true if the call reports that a turn was stopped.
    pub(in crate::conformance) fn is_stopped(&self) -> bool {
        reports_stop(&Value::Object(self.arguments.clone()))
    }

    /// Returns the request with an ack of nothing, whose response is that of an ack.
    pub(in crate::conformance) fn without_acks(&self, request: &PlainHttp) -> PlainHttp {
        let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let arguments = match self.form {
            CallForm::Route => &mut body,
            CallForm::Tool => &mut body["params"]["arguments"],
        };
        arguments["buffer_ids"] = json!([]);
        PlainHttp { body: body.to_string().into_bytes(), ..request.clone() }
    }

    /// Returns the frames in the response of a take.
    pub(in crate::conformance) fn frames(&self, response: &PlainHttp) -> Vec<Value> {
        let result = match self.form {
            CallForm::Route => serde_json::from_slice(&response.body).ok(),
            CallForm::Tool => read_event(&response.body).map(|event| result_of(&event).clone()),
        };
        let frames = result.as_ref().and_then(|result: &Value| result["frames"].as_array());
        frames.cloned().unwrap_or_default()
    }

    /// Replaces the frames in the response of a take.
    pub(in crate::conformance) fn set_frames(&self, response: &mut PlainHttp, frames: &[Value]) {
        match self.form {
            CallForm::Route => {
                let mut result: Value = serde_json::from_slice(&response.body).unwrap_or_default();
                result["frames"] = frames.into();
                response.body = result.to_string().into_bytes();
            }
            CallForm::Tool => {
                let Some(mut event) = read_event(&response.body) else { return };
                let mut result = result_of(&event).clone();
                result["frames"] = frames.into();
                event["result"]["content"] =
                    json!([{ "type": "text", "text": result.to_string() }]);
                event["result"]["structuredContent"] = result;
                response.body = format!("data: {event}\n\n").into_bytes();
            }
        }
    }

    /// Returns true if the response is the result of the call, and no failure.
    pub(in crate::conformance) fn is_success(&self, response: &PlainHttp) -> bool {
        let is_result = || read_event(&response.body).is_some_and(|event| event["error"].is_null());
        response.is_success() && (self.form == CallForm::Route || is_result())
    }
}

/// Returns true if the answer to a stop order says that a turn was stopped.
pub(in crate::conformance) fn reports_stop(answer: &Value) -> bool {
    answer["stopped"] == true
}

fn kind_of_route(route: &str) -> Option<LineCallKind> {
    match route {
        "take" => Some(LineCallKind::Take),
        "ack" => Some(LineCallKind::Ack),
        "send" => Some(LineCallKind::Send),
        "stopped" => Some(LineCallKind::Stopped),
        _ => None,
    }
}

fn kind_of_tool(tool: &str) -> Option<LineCallKind> {
    match tool {
        "inbox_take" => Some(LineCallKind::Take),
        "inbox_ack" => Some(LineCallKind::Ack),
        "send" => Some(LineCallKind::Send),
        "inbox_stopped" => Some(LineCallKind::Stopped),
        _ => None,
    }
}

/// Returns the JSON-RPC response of a stream of events: its last event, or the whole body.
fn read_event(body: &[u8]) -> Option<Value> {
    let text = str::from_utf8(body).ok()?;
    let data = text.lines().rev().find_map(|line| line.strip_prefix("data:"));
    serde_json::from_str(data.unwrap_or(text)).ok()
}

fn result_of(event: &Value) -> &Value {
    &event["result"]["structuredContent"]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, body: &Value) -> PlainHttp {
        PlainHttp::new(format!("POST {path} HTTP/1.1"), body.to_string().as_bytes())
    }

    fn tool(name: &str, arguments: &Value) -> PlainHttp {
        let params = json!({ "name": name, "arguments": arguments });
        request("/mcp", &json!({ "id": 1, "method": "tools/call", "params": params }))
    }

    fn kind(request: &PlainHttp) -> Option<LineCallKind> {
        LineCall::read(request).map(|call| call.kind)
    }

    #[test]
    fn routes_and_tools_are_the_same_calls() {
        assert_eq!(kind(&request("/v1/line/take", &json!({}))), Some(LineCallKind::Take));
        assert_eq!(kind(&tool("inbox_take", &json!({}))), Some(LineCallKind::Take));
        assert_eq!(kind(&request("/v1/line/ack", &json!({}))), Some(LineCallKind::Ack));
        assert_eq!(kind(&tool("inbox_ack", &json!({}))), Some(LineCallKind::Ack));
        assert_eq!(kind(&tool("notify", &json!({}))), None);
        assert_eq!(kind(&request("/mcp", &json!({ "method": "tools/list" }))), None);
        assert_eq!(kind(&request("/chat/x/messages", &json!({}))), None);
    }

    #[test]
    fn only_a_take_without_a_line_is_a_dial() {
        let is_dial = |request: &PlainHttp| LineCall::read(request).unwrap().is_dial();

        assert!(is_dial(&request("/v1/line/take", &json!({ "line": null }))));
        assert!(!is_dial(&request("/v1/line/take", &json!({ "line": "L1" }))));
        assert!(is_dial(&tool("inbox_take", &json!({ "wait_seconds": 1 }))));
        assert!(!is_dial(&request("/v1/line/ack", &json!({}))));
    }

    #[test]
    fn a_swallowed_ack_names_no_entry() {
        let acked = json!({ "line": "L", "buffer_ids": ["a", "b"] });
        for request in [request("/v1/line/ack", &acked), tool("inbox_ack", &acked)] {
            let call = LineCall::read(&request).unwrap();
            assert_eq!(call.acked(), ["a", "b"]);
            let rest = LineCall::read(&call.without_acks(&request)).unwrap();
            assert_eq!((rest.acked(), rest.arguments["line"].as_str()), (vec![], Some("L")));
        }
    }

    #[test]
    fn the_frames_of_a_take_can_be_replaced() {
        let result = json!({ "line": "L", "frames": [1] });
        let event = json!({ "id": 1, "result": { "structuredContent": result } });
        let stream = format!("id: 0\ndata:\n\nid: 1\ndata: {event}\n\n");
        let cases = [
            (request("/v1/line/take", &json!({})), result.to_string()),
            (tool("inbox_take", &json!({})), stream),
        ];
        for (request, body) in cases {
            let call = LineCall::read(&request).unwrap();
            let mut response = PlainHttp::new("HTTP/1.1 200 OK", body.as_bytes());
            assert_eq!(call.frames(&response), [json!(1)]);
            call.set_frames(&mut response, &[json!(1), json!(2)]);
            assert_eq!(call.frames(&response), [json!(1), json!(2)]);
            assert!(call.is_success(&response));
        }
    }
}

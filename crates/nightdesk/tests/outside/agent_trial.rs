//! `nightdesk conformance agent`: an agent passes the scenarios whose promises it keeps, and no other.

use std::process::{Command, Output};

use serde_json::Value;

/// An agent that is called by webhook. It answers with the text of the message, and verifies no signature.
const TRUSTING_ECHO: &str = r#"
import json, os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        frame = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = json.dumps({"text": frame["event"]["text"]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Agent).serve_forever()
"#;

/// Runs `nightdesk conformance agent` with a scenario.
fn try_agent(scenario: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nightdesk"))
        .args(["conformance", "agent", "--json", "--transport", "webhook"])
        .args(["--scenario", scenario, "--", "python3", "-c", TRUSTING_ECHO])
        .output()
        .expect("the binary runs")
}

fn report(output: &Output) -> Value {
    let printed = String::from_utf8_lossy(&output.stdout);
    let report = printed.lines().find_map(|line| serde_json::from_str(line).ok());
    report.expect("a report")
}

#[test]
fn an_echo_agent_passes() {
    let output = try_agent("echo");

    assert_eq!(report(&output)["scenarios"][0]["reason"], Value::Null);
    assert!(output.status.success());
}

#[test]
fn an_agent_that_trusts_any_post_is_rejected() {
    let output = try_agent("forgery");

    let report = report(&output);
    let reason = report["scenarios"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("signature"), "{report}");
    assert_eq!((&report["failed"], output.status.code()), (&1.into(), Some(1)));
}

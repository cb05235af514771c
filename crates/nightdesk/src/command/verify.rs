//! `verify`: proves step by step that a function works, or names the fix.

use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Args;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};

/// Interval at which a step's completion is polled.
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The agent's tenant, by name or id.
    #[arg(long)]
    tenant: String,
    /// Prove that this agent wakes up, by name or id: it gets a test entry, is called, dials in and acknowledges it.
    #[arg(long, value_name = "AGENT", required = true)]
    wake: String,
    /// The time that the agent may take to dial in: `30s`, `15m`.
    #[arg(long, default_value = "90s", value_parser = ui::span)]
    within: Duration,
}

/// Proves that an agent wakes up, and prints each completed step.
pub(super) async fn run(desk: &DeskClient, args: VerifyArgs) -> anyhow::Result<CommandOutput> {
    let VerifyArgs { tenant, wake: agent, within } = args;
    let whose = AgentArgs { tenant, agent };
    let status = desk.call(ApiRequest::get(&whose.path(&["wake"]))).await?;
    let mut proof = WakeProof { desk, whose: &whose, began: Instant::now(), steps: vec![] };
    let proven = proof.prove(&status, within).await;
    let mut data =
        json!({ "agent_id": status["agent_id"], "proven": proven.is_ok(), "steps": proof.steps });
    match proven {
        Ok(()) => Ok(CommandOutput::Told { data, text: "the agent wakes up".to_owned() }),
        Err(error) => {
            data["wrong"] = format!("{error:#}").into();
            Ok(CommandOutput::Checked { data, wrong: 1 })
        }
    }
}

/// A proof in progress.
struct WakeProof<'a> {
    desk: &'a DeskClient,
    whose: &'a AgentArgs,
    began: Instant,
    steps: Vec<Value>,
}

impl WakeProof<'_> {
    async fn prove(&mut self, status: &Value, within: Duration) -> anyhow::Result<()> {
        ensure!(
            has_no_line(status),
            "the agent is awake; stop it, or wait until it goes idle, and repeat the command"
        );
        self.record_step("asleep", "the agent has no line");
        let trial = self.call_agent().await?;
        let until = Instant::now() + within;
        self.wait_for_dial(until, &trial["dial_url"]).await?;
        self.wait_for_ack(until, &trial["seq"].to_string()).await
    }

    /// Puts a test entry into the inbox, and calls the agent.
    async fn call_agent(&mut self) -> anyhow::Result<Value> {
        let path = self.whose.path(&["wake", "trial"]);
        let trial = self.desk.call(ApiRequest::post(&path)).await?;
        self.record_step("stored", &format!("test entry {} waits", trial["seq"]));
        let outcome = trial["outcome"].as_str().unwrap_or_default();
        ensure!(trial["called"] == true, "the call failed: {outcome}");
        self.record_step("called", outcome);
        Ok(trial)
    }

    async fn wait_for_dial(&mut self, until: Instant, dial_url: &Value) -> anyhow::Result<()> {
        while Instant::now() < until {
            let path = self.whose.path(&["wake"]);
            let status = self.desk.call(ApiRequest::get(&path)).await?;
            if !has_no_line(&status) || status["wake"] == "woken" {
                self.record_step("dialled in", "the agent has a line");
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
        bail!(
            "no gateway of the agent dialled in; check that the called program starts it, and that it \
             dials {} with its own secret",
            dial_url.as_str().unwrap_or_default()
        )
    }

    async fn wait_for_ack(&mut self, until: Instant, seq: &str) -> anyhow::Result<()> {
        while Instant::now() < until {
            let path = self.whose.path(&["inbox", seq]);
            let entry = self.desk.call(ApiRequest::get(&path)).await?;
            if entry["state"] == "parked" {
                bail!("the test entry was parked; `nightdesk inbox show` shows why");
            }
            if entry["state"] == "acked" {
                self.record_step(
                    "acknowledged",
                    "the agent acknowledged the test entry, and all before it",
                );
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
        bail!(
            "the agent dialled in and did not acknowledge entry {seq}; see the agent's log, and \
             `nightdesk inbox list` for entries that wait before it"
        )
    }

    /// Prints a step to stderr, so that stdout has only the result.
    fn record_step(&mut self, step: &'static str, words: &str) {
        let after_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        ui::print_text(&format!("{after_ms:>7} ms  {step}: {words}"));
        self.steps.push(json!({ "step": step, "after_ms": after_ms, "words": words }));
    }
}

fn has_no_line(status: &Value) -> bool {
    status["line"] == "none"
}

//! `verify`: proves step by step that a function works, or names the fix.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use nightdesk_inbox::{InboxAdmin, LocalEntry};
use nightdesk_register::{Bots, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{UNRECORDED_CALL_GAP, WAKE_SWEEP_EVERY};
use nightdesk_types::{AgentId, Seq, TenantScope, Timestamp};
use nightdesk_wake::{AgentWakeStatus, CallOutcome};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::names::AgentArgs;
use super::wake::{self, LOOK_EVERY};
use crate::config::Config;
use crate::{ui, wiring};

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
pub(super) async fn run(config: &Config, asked: VerifyArgs, json: bool) -> anyhow::Result<()> {
    let VerifyArgs { tenant, wake: agent, within } = asked;
    let vault = config.vault().await?;
    let pg = Arc::new(wiring::connect(config, vault.clone())?);
    let register = Register::new(Arc::<Pg>::clone(&pg), vault);
    let (scope, agent) = AgentArgs { tenant, agent }.resolve(&register).await?;
    let mut proof =
        WakeProof { config, pg, scope, agent, began: Instant::now(), json, steps: vec![] };
    let proven = proof.prove(&register, within).await;
    proof.print_result(proven.is_ok());
    proven
}

/// A proof in progress.
struct WakeProof<'a> {
    config: &'a Config,
    pg: Arc<Pg>,
    scope: TenantScope,
    agent: AgentId,
    began: Instant,
    json: bool,
    steps: Vec<Value>,
}

impl WakeProof<'_> {
    async fn prove(&mut self, register: &Register, within: Duration) -> anyhow::Result<()> {
        self.check_asleep().await?;
        let began_at = self.pg.time().await?;
        let seq = self.put(register).await?;
        self.call(began_at).await?;
        let until = Instant::now() + within;
        self.wait_for_dial(until).await?;
        self.wait_for_ack(seq, until).await
    }

    async fn status(&self) -> anyhow::Result<AgentWakeStatus> {
        wake::status(&*self.pg, self.scope, self.agent).await
    }

    async fn check_asleep(&mut self) -> anyhow::Result<()> {
        let status = self.status().await?;
        ensure!(
            status.line_since.is_none(),
            "the agent is awake; stop it, or wait until it goes idle, and repeat the command"
        );
        ensure!(
            status.urls > 0 || !self.config.wake.command.is_empty(),
            "the agent has no wake URL; set one with `nightdesk agent wake-url`, or \
             wake.command in the configuration"
        );
        self.record_step("asleep", "the agent has no line");
        Ok(())
    }

    async fn put(&mut self, register: &Register) -> anyhow::Result<Seq> {
        let bots = register.store().bots_of(self.scope, self.agent).await?;
        let entry =
            bots.iter().find_map(|bot| LocalEntry::for_bot(bot.id, &bot.platform, &bot.handle));
        let entry = entry.context(
            "the agent has no binding or grant on any bot, so it cannot receive events; \
             create one with `nightdesk binding create` or `nightdesk grant create`",
        )?;
        let seq = self.pg.put_local(self.scope, self.agent, &entry).await?;
        let seq = seq.context("the agent has no inbox")?;
        self.record_step("stored", &format!("test entry {seq} waits"));
        Ok(seq)
    }

    /// Makes the call, unless a node made it first.
    async fn call(&mut self, began_at: Timestamp) -> anyhow::Result<()> {
        let calling = wiring::wake(self.config, &self.pg, wiring::outside(self.config)?)?;
        // The agent may have been called just now, so the next call waits for its turn.
        let until = Instant::now() + UNRECORDED_CALL_GAP + WAKE_SWEEP_EVERY * 2;
        while Instant::now() < until {
            if let Some((claimed, room)) = calling.claim_agent(self.scope, self.agent).await? {
                return match calling.call(&claimed, &room).await? {
                    CallOutcome::Taken(words) => {
                        self.record_step("called", &words);
                        Ok(())
                    }
                    outcome @ (CallOutcome::Failed(_) | CallOutcome::PutOff(_)) => {
                        bail!("the call failed: {}", wake::outcome_text(&outcome))
                    }
                };
            }
            let wake = self.status().await?.wake;
            let by_node = wake.filter(|wake| wake.called_at.is_some_and(|at| at >= began_at));
            if let Some(outcome) = by_node.and_then(|wake| wake.outcome) {
                self.record_step("called", &format!("by a node: {outcome}"));
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
        bail!("no call was made; `nightdesk wake status` shows why")
    }

    async fn wait_for_dial(&mut self, until: Instant) -> anyhow::Result<()> {
        while Instant::now() < until {
            let status = self.status().await?;
            if status.line_since.is_some() || status.wake.is_some_and(|wake| wake.state == "woken")
            {
                self.record_step("dialled in", "the agent has a line");
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
        bail!(
            "no gateway of the agent dialled in; check that the called program starts it, and that it \
             dials {} with its own secret",
            self.config.public_url()
        )
    }

    async fn wait_for_ack(&mut self, seq: Seq, until: Instant) -> anyhow::Result<()> {
        while Instant::now() < until {
            let overview = self.pg.overview(self.scope, self.agent, Seq::default()).await?;
            let overview = overview.context("the agent has no inbox")?;
            if overview.parked.iter().any(|(listed, _)| listed.seq == seq) {
                bail!("the test entry was parked; `nightdesk inbox show` shows why");
            }
            if overview.acked >= seq {
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

    fn record_step(&mut self, step: &'static str, words: &str) {
        let after_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if !self.json {
            ui::put(&format!("{after_ms:>7} ms  {step}: {words}"));
        }
        self.steps.push(json!({ "step": step, "after_ms": after_ms, "words": words }));
    }

    fn print_result(&self, proven: bool) {
        if self.json {
            let data = json!({ "agent_id": self.agent, "proven": proven, "steps": self.steps });
            ui::put(&data.to_string());
        } else if proven {
            ui::put("the agent wakes up");
        }
    }
}

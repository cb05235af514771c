//! `dev`: a complete desk for a trial, with an agent that echoes until another one connects, and one that sleeps.

mod sleeper;

use std::net::SocketAddr;

use anyhow::Context;
use nightdesk_outside::Rules;
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use nightdesk_types::{Actor, AgentId, TenantScope};
use nightdesk_vault::Key;
use reqwest::Url;
use serde_json::json;

use super::login::create_operator_link;
use crate::config::Config;
use crate::lifecycle::StopSignals;
use crate::trial_desk::{NewPage, TrialDesk};
use crate::ui;
use crate::ui::CommandOutput;
use sleeper::{SLEEP_AFTER, Sleeper};

/// The settings of `nightdesk dev`.
#[derive(Debug)]
pub(super) struct DevSettings {
    pub(super) listen: SocketAddr,
    /// The URL of the agent. Without it, an agent echoes until another one connects.
    pub(super) webhook: Option<Url>,
    pub(super) json: bool,
}

/// Runs a trial desk until it is stopped.
pub(super) async fn run(trial: DevSettings) -> anyhow::Result<()> {
    let sleeper = Sleeper::listen().await?;
    let set = |config: &mut Config| {
        config.outside = rules_for(trial.webhook.as_ref(), sleeper.port());
    };
    let work = async |desk: &TrialDesk| run_trial(desk, &trial, &sleeper).await;
    TrialDesk::run(trial.listen, set, work).await
}

/// Allows the sleeper's wake URL and a webhook on this machine, besides the public ones that every desk may call.
fn rules_for(webhook: Option<&Url>, wake_port: u16) -> Rules {
    let loopback = ["127.0.0.0/8", "::1/128"].into_iter().filter_map(|range| range.parse().ok());
    let ports = webhook.and_then(Url::port).into_iter().chain([wake_port]);
    Rules { ranges: loopback.collect(), http: true, ports: ports.collect(), ..Rules::default() }
}

/// Creates the trial identities, and runs both agents until the trial ends.
async fn run_trial(desk: &TrialDesk, trial: &DevSettings, sleeper: &Sleeper) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let identities = TrialIdentities::create(desk, sleeper).await?;
    tokio::select! {
        ended = run_first_agent(desk, trial, &identities, &mut stop_signals) => ended,
        error = sleeper.run(identities.sleeper_settings()) => Err(error),
    }
}

/// Gives the first agent its transport, and waits until the trial is stopped.
async fn run_first_agent(
    desk: &TrialDesk,
    trial: &DevSettings,
    identities: &TrialIdentities,
    stop_signals: &mut StopSignals,
) -> anyhow::Result<()> {
    if let Some(url) = &trial.webhook {
        let TrialIdentities { scope, agent, .. } = identities;
        let set = desk.office().set_webhook(*scope, *agent, url.as_str()).await?;
        identities.show(Some(&set.secret), trial.json);
        stop_signals.wait().await;
        return Ok(());
    }
    let agent = identities.connect_echo().await?;
    identities.show(None, trial.json);
    tokio::select! {
        () = stop_signals.wait() => {
            ui::print_text("stopping …");
            agent.go_idle().await;
            return Ok(());
        }
        // Two agents with one inbox would end each other's lines again and again.
        () = agent.wait_until_replaced() => {}
    }
    agent.disconnect().await;
    ui::print_text("another agent has connected, so the echo agent has left");
    stop_signals.wait().await;
    Ok(())
}

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

const ECHO: &str = "gw-echo";
const YOURS: &str = "gw-yours";
const SLEEPER: &str = "gw-sleeper";

/// The name of the person who tries the desk out.
const OPERATOR: &str = "Trial operator";

/// The identities of a trial desk.
struct TrialIdentities {
    scope: TenantScope,
    agent: AgentId,
    url: String,
    /// The page of the first agent.
    path: String,
    echo: Key,
    yours: Key,
    /// The page of the sleeper.
    sleeper_path: String,
    sleeper: Key,
    /// A link that logs the person in at the dashboard.
    dashboard: String,
}

impl TrialIdentities {
    async fn create(desk: &TrialDesk, sleeper: &Sleeper) -> anyhow::Result<Self> {
        let (register, url) = (desk.register(), desk.config.public_url());
        let scope = TenantScope::for_tenant(register.create_tenant(Actor::Operator, "dev").await?)
            .with_actor(Actor::Operator);
        let agent = register.store().create_agent(scope, "echo").await?;
        let settings = json!({
            "title": "Trial",
            "greeting": "Say hello to the agent. Until yours connects, one echoes what you write.",
        });
        let path = desk.open_page(scope, agent, NewPage { handle: "dev", settings }).await?;
        let (_, echo) = register.create_gateway(scope, agent, ECHO).await?;
        let (_, yours) = register.create_gateway(scope, agent, YOURS).await?;
        let (sleeper_path, sleeper) = create_sleeper(desk, scope, sleeper).await?;
        let dashboard = create_operator_link(desk.office().users(), OPERATOR, &url).await?.url;
        Ok(Self { scope, agent, url, path, echo, yours, sleeper_path, sleeper, dashboard })
    }

    async fn connect_echo(&self) -> anyhow::Result<Agent> {
        let secret = self.echo.with(str::to_owned);
        let agent = Agent::connect(Settings::new(&self.url, ECHO, secret), echo)?;
        agent.handshake().await.context("the echo agent could not connect")?;
        Ok(agent)
    }

    fn sleeper_settings(&self) -> Settings {
        Settings::new(&self.url, SLEEPER, self.sleeper.with(str::to_owned))
    }

    fn show(&self, webhook_secret: Option<&str>, json: bool) {
        let Self { url, path, sleeper_path, dashboard, .. } = self;
        let (chat, sleeper) = (format!("{url}/chat/{path}"), format!("{url}/chat/{sleeper_path}"));
        let secret = self.yours.with(str::to_owned);
        let (first, how) = self.usage(webhook_secret, &secret);
        let sleep_secs = SLEEP_AFTER.as_secs();
        let text = format!(
            "chat: {chat}\n\
             sleeper: {sleeper}\n\
             dashboard: {dashboard}\n\n\
             Try this:\n  \
             1. Open the chat and write: {first}\n  \
             2. Write to the sleeper. It answers, and after {sleep_secs} s it has no connection any more. Write again: the \
             desk keeps the message and wakes it.\n  \
             3. Open the dashboard: it shows both agents and what waits for them. The link works once, for fifteen \
             minutes.\n\n\
             {how}\n\nCtrl-C stops it and deletes all data."
        );
        let mut data = json!({
            "chat": chat, "url": url, "gateway": YOURS, "secret": secret, "sleeper": sleeper,
            "dashboard": dashboard,
        });
        if let Some(signing) = webhook_secret {
            data["webhook_secret"] = json!(signing);
        }
        ui::print_output(json, CommandOutput::Told { data, text });
    }

    /// Returns what answers in the chat, and how to connect an agent.
    fn usage(&self, webhook_secret: Option<&str>, secret: &str) -> (&'static str, String) {
        let Self { url, .. } = self;
        match webhook_secret {
            None => (
                "an agent echoes your messages until another one connects.",
                format!(
                    "The settings of an agent of your own:\n\n  \
                     export NIGHTDESK_URL={url} NIGHTDESK_GATEWAY={YOURS} \\\n  \
                     NIGHTDESK_SECRET={secret}\n\n\
                     To connect a Hermes agent:\n\n  \
                     GATEWAY_RELAY_URL={url} GATEWAY_RELAY_ID={YOURS} \\\n  \
                     GATEWAY_RELAY_SECRET={secret} hermes gateway run"
                ),
            ),
            Some(signing) => (
                "the desk posts each message to your agent.",
                format!(
                    "The settings of your agent:\n\n  export NIGHTDESK_WEBHOOK_SECRET={signing}"
                ),
            ),
        }
    }
}

/// Creates the agent that sleeps. Returns the path of its page, and the secret of its gateway.
async fn create_sleeper(
    desk: &TrialDesk,
    scope: TenantScope,
    sleeper: &Sleeper,
) -> anyhow::Result<(String, Key)> {
    let register = desk.register();
    let agent = register.store().create_agent(scope, "sleeper").await?;
    let settings = json!({
        "title": "Sleeper",
        "greeting": "This agent sleeps when nobody writes. Write to it at any time.",
    });
    let path = desk.open_page(scope, agent, NewPage { handle: "sleeper", settings }).await?;
    let (_, secret) = register.create_gateway(scope, agent, SLEEPER).await?;
    desk.office().set_wake_urls(scope, agent, &[sleeper.wake_url()]).await?;
    Ok((path, secret))
}

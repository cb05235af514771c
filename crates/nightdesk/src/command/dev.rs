//! `dev`: a complete desk for a trial, with an agent that echoes until another one connects.

use std::net::SocketAddr;

use anyhow::Context;
use nightdesk_outside::Rules;
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use nightdesk_types::{Actor, AgentId, TenantScope};
use nightdesk_vault::Key;
use reqwest::Url;
use serde_json::json;

use super::webhook::{self, WebhookOwner};
use crate::config::Config;
use crate::lifecycle::StopSignals;
use crate::trial_desk::{NewPage, TrialDesk};
use crate::ui;
use crate::ui::CommandOutput;

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
    let set = |config: &mut Config| {
        if let Some(url) = &trial.webhook {
            config.outside = rules_for(url);
        }
    };
    TrialDesk::run(trial.listen, set, async |desk| run_trial(desk, &trial).await).await
}

/// Allows a webhook on this machine besides the public ones that every desk may call.
fn rules_for(url: &Url) -> Rules {
    let loopback = ["127.0.0.0/8", "::1/128"].into_iter().filter_map(|range| range.parse().ok());
    Rules {
        ranges: loopback.collect(),
        http: url.scheme() == "http",
        ports: url.port().into_iter().collect(),
        ..Rules::default()
    }
}

/// Creates the trial identities, gives the agent its transport, and waits.
async fn run_trial(desk: &TrialDesk, trial: &DevSettings) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let identities = TrialIdentities::create(desk).await?;
    if let Some(url) = &trial.webhook {
        let owner = WebhookOwner { scope: identities.scope, agent: identities.agent };
        let TrialDesk { config, pg, locksmith, .. } = desk;
        let set = webhook::set(config, &**pg, locksmith, owner, url.as_str()).await?;
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

/// The identities of a trial desk.
struct TrialIdentities {
    scope: TenantScope,
    agent: AgentId,
    url: String,
    path: String,
    echo: Key,
    yours: Key,
}

impl TrialIdentities {
    async fn create(desk: &TrialDesk) -> anyhow::Result<Self> {
        let register = desk.register();
        let scope = TenantScope::for_tenant(register.create_tenant("dev").await?)
            .with_actor(Actor::Operator);
        let agent = register.store().create_agent(scope, "echo").await?;
        let settings = json!({
            "title": "Trial",
            "greeting": "Say hello to the agent. Until yours connects, one echoes what you write.",
        });
        let path = desk.open_page(scope, agent, NewPage { handle: "dev", settings }).await?;
        let (_, echo) = register.create_gateway(scope, agent, ECHO).await?;
        let (_, yours) = register.create_gateway(scope, agent, YOURS).await?;
        Ok(Self { scope, agent, url: desk.config.public_url(), path, echo, yours })
    }

    async fn connect_echo(&self) -> anyhow::Result<Agent> {
        let secret = self.echo.with(str::to_owned);
        let agent = Agent::connect(Settings::new(&self.url, ECHO, secret), echo)?;
        agent.handshake().await.context("the echo agent could not connect")?;
        Ok(agent)
    }

    fn show(&self, webhook_secret: Option<&str>, json: bool) {
        let Self { url, path, .. } = self;
        let chat = format!("{url}/chat/{path}");
        let secret = self.yours.with(str::to_owned);
        let how = match webhook_secret {
            None => format!(
                "Open it and write: an agent echoes your messages until another one connects.\n\
                 The settings of an agent of your own:\n\n  \
                 export NIGHTDESK_URL={url} NIGHTDESK_GATEWAY={YOURS} \\\n  \
                 NIGHTDESK_SECRET={secret}\n\n\
                 To connect a Hermes agent:\n\n  \
                 GATEWAY_RELAY_URL={url} GATEWAY_RELAY_ID={YOURS} \\\n  \
                 GATEWAY_RELAY_SECRET={secret} hermes gateway run"
            ),
            Some(signing) => format!(
                "Open it and write: the desk posts each message to your agent.\n\
                 The settings of your agent:\n\n  \
                 export NIGHTDESK_WEBHOOK_SECRET={signing}"
            ),
        };
        let text = format!("chat: {chat}\n\n{how}\n\nCtrl-C stops it and deletes all data.");
        let mut data = json!({ "chat": chat, "url": url, "gateway": YOURS, "secret": secret });
        if let Some(signing) = webhook_secret {
            data["webhook_secret"] = json!(signing);
        }
        ui::print_output(json, CommandOutput::Told { data, text });
    }
}

//! `dev`: a complete desk for a trial, on its own PostgreSQL. Its data is removed at the end.

use std::net::SocketAddr;

use anyhow::Context;
use nightdesk_outside::Rules;
use nightdesk_register::{AgentOnBot, BotDraft, Register, new_secret};
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use nightdesk_servers::{Durability, Options, Postgres};
use nightdesk_store_pg::{connect_options, migrate};
use nightdesk_types::{Actor, AgentId, GrantTarget, Principal, TenantScope};
use nightdesk_vault::{Key, Vault};
use reqwest::Url;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::webhook::{self, WebhookOwner};
use crate::config::Config;
use crate::lifecycle::StopSignals;
use crate::ui::CommandOutput;
use crate::wiring::RunningNode;
use crate::{telemetry, ui};

const DATABASE: &str = "postgres";

/// A trial, as the command line asks for it.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) listen: SocketAddr,
    /// The URL of the agent. Without it, an agent echoes until another one connects.
    pub(super) webhook: Option<Url>,
    pub(super) json: bool,
}

/// Runs a trial desk until it is stopped.
pub(super) async fn run(trial: Trial) -> anyhow::Result<()> {
    ui::print_text("starting a private PostgreSQL server …");
    // As an operator's server: a node refuses one that does not wait for its disk.
    let options = Options { durability: Durability::Fsync, ..Options::default() };
    let postgres = spawn_blocking(move || Postgres::start(&options)).await??;
    let ran = run_on(&postgres, &trial).await;
    // The drop waits for the server to end and removes its files.
    spawn_blocking(|| drop(postgres)).await?;
    ran
}

async fn run_on(postgres: &Postgres, trial: &Trial) -> anyhow::Result<()> {
    let admin = connect_options(&postgres.admin_url(DATABASE), None)?;
    migrate(&admin, None).await.context("could not set the database up")?;
    let mut config = Config::for_trial(trial.listen, postgres.port(), DATABASE);
    if let Some(url) = &trial.webhook {
        config.outside = rules_for(url);
    }
    let telemetry = telemetry::start(&config)?;
    let vault = Vault::from_key_file(&Vault::new_key_file())?;
    let running = RunningNode::start(&config, vault.clone()).await?;
    let tried = match TrialIdentities::create(&config.public_url(), running.register()).await {
        Ok(identities) => run_trial(&config, &running, vault, identities, trial).await,
        Err(error) => Err(error),
    };
    running.stop().await;
    telemetry.close();
    tried
}

/// Allows a webhook on this machine besides the public ones that every desk may call.
fn rules_for(url: &Url) -> Rules {
    let loopback = ["127.0.0.0/8", "::1/128"].into_iter().filter_map(|range| range.parse().ok());
    let is_plain = url.scheme() == "http";
    Rules {
        ranges: loopback.collect(),
        http: is_plain,
        ports: url.port().into_iter().collect(),
        ..Rules::default()
    }
}

/// Gives the agent its transport, shows how to reach it, and waits.
async fn run_trial(
    config: &Config,
    running: &RunningNode,
    vault: Vault,
    identities: TrialIdentities,
    trial: &Trial,
) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let Some(webhook) = &trial.webhook else {
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
        return Ok(());
    };
    let owner = WebhookOwner { scope: identities.scope, agent: identities.agent };
    let locksmith = running.locksmith(vault);
    let set = webhook::set(config, running.records(), &locksmith, owner, webhook.as_str()).await?;
    identities.show(Some(&set.secret.to_string()), trial.json);
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
    async fn create(url: &str, register: &Register) -> anyhow::Result<Self> {
        let scope = TenantScope::for_tenant(register.create_tenant("dev").await?)
            .with_actor(Actor::Operator);
        let agent = register.store().create_agent(scope, "echo").await?;
        let webchat = nightdesk_webchat::NAME;
        let draft = BotDraft {
            platform: webchat.to_owned(),
            adapter: webchat.to_owned(),
            handle: "dev".to_owned(),
            settings: json!({
                "title": "Trial",
                "greeting": "Say hello to the agent. Until yours connects, one echoes what you write.",
            }),
            key: Some(new_secret()),
        };
        let (bot, path) = register.create_bot(scope, draft).await?;
        register
            .store()
            .grant(AgentOnBot { scope, agent, bot }, &GrantTarget::Bot, Some(Principal::Any))
            .await?;
        let (_, echo) = register.create_gateway(scope, agent, ECHO).await?;
        let (_, yours) = register.create_gateway(scope, agent, YOURS).await?;
        Ok(Self { scope, agent, url: url.to_owned(), path, echo, yours })
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

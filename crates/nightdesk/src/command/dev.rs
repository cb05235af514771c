//! `dev`: a complete desk for a trial, on its own PostgreSQL. Its data is removed at the end.

use std::net::SocketAddr;

use anyhow::Context;
use nightdesk_register::{AgentOnBot, BotDraft, Register, new_secret};
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use nightdesk_servers::{Durability, Options, Postgres};
use nightdesk_store_pg::{connect_options, migrate};
use nightdesk_types::{Actor, GrantTarget, Principal, TenantScope};
use nightdesk_vault::{Key, Vault};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::config::Config;
use crate::lifecycle::StopSignals;
use crate::ui::CommandOutput;
use crate::wiring::RunningNode;
use crate::{telemetry, ui};

const DATABASE: &str = "postgres";

/// Runs a trial desk until it is stopped.
pub(super) async fn run(address: SocketAddr, json: bool) -> anyhow::Result<()> {
    ui::print_text("starting a private PostgreSQL server …");
    // As an operator's server: a node refuses one that does not wait for its disk.
    let options = Options { durability: Durability::Fsync, ..Options::default() };
    let postgres = spawn_blocking(move || Postgres::start(&options)).await??;
    let ran = run_on(&postgres, address, json).await;
    // The drop waits for the server to end and removes its files.
    spawn_blocking(|| drop(postgres)).await?;
    ran
}

async fn run_on(postgres: &Postgres, address: SocketAddr, json: bool) -> anyhow::Result<()> {
    let admin = connect_options(&postgres.admin_url(DATABASE), None)?;
    migrate(&admin, None).await.context("could not set the database up")?;
    let config = Config::for_trial(address, postgres.port(), DATABASE);
    let telemetry = telemetry::start(&config)?;
    let vault = Vault::from_key_file(&Vault::new_key_file())?;
    let running = RunningNode::start(&config, vault).await?;
    let tried = run_trial(&config, running.register(), json).await;
    running.stop().await;
    telemetry.close();
    tried
}

/// Creates the trial identities, lets the echo agent dial in, and waits.
async fn run_trial(config: &Config, register: &Register, json: bool) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let household = TrialIdentities::create(register).await?;
    let url = config.public_url();
    let secret = household.echo.with(str::to_owned);
    let agent = Agent::connect(Settings::new(&url, ECHO, secret), echo)?;
    agent.handshake().await.context("the echo agent could not connect")?;
    household.show(&url, json);
    stop_signals.wait().await;
    ui::print_text("stopping …");
    agent.go_idle().await;
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
    path: String,
    echo: Key,
    yours: Key,
}

impl TrialIdentities {
    async fn create(register: &Register) -> anyhow::Result<Self> {
        let scope = TenantScope::for_tenant(register.create_tenant("dev").await?)
            .with_actor(Actor::Operator);
        let agent = register.store().create_agent(scope, "echo").await?;
        let webchat = nightdesk_webchat::NAME;
        let draft = BotDraft {
            platform: webchat.to_owned(),
            adapter: webchat.to_owned(),
            handle: "dev".to_owned(),
            settings: json!({
                "title": "Echo",
                "greeting": "This agent echoes what you write. Say hello.",
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
        Ok(Self { path, echo, yours })
    }

    fn show(&self, url: &str, json: bool) {
        let chat = format!("{url}/chat/{}", self.path);
        let secret = self.yours.with(str::to_owned);
        let text = format!(
            "chat: {chat}\n\n\
             Open it and write: an agent echoes your messages.\n\
             To replace it with a Hermes agent:\n\n  \
             GATEWAY_RELAY_URL={url} GATEWAY_RELAY_ID={YOURS} \\\n  \
             GATEWAY_RELAY_SECRET={secret} hermes gateway run\n\n\
             Ctrl-C stops it and deletes all data."
        );
        let data = json!({ "chat": chat, "url": url, "gateway": YOURS, "secret": secret });
        ui::print_output(json, CommandOutput::Told { data, text });
    }
}

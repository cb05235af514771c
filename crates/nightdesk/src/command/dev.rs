//! `dev`: a complete desk for a trial, with an agent that echoes.

use std::net::SocketAddr;

use anyhow::Context;
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use nightdesk_types::{Actor, TenantScope};
use nightdesk_vault::Key;
use serde_json::json;

use crate::lifecycle::StopSignals;
use crate::trial_desk::{NewPage, TrialDesk};
use crate::ui;
use crate::ui::CommandOutput;

/// Runs a trial desk until it is stopped.
pub(super) async fn run(address: SocketAddr, json: bool) -> anyhow::Result<()> {
    TrialDesk::run(address, |_| {}, async |desk| run_trial(desk, json).await).await
}

/// Creates the trial identities, lets the echo agent dial in, and waits.
async fn run_trial(desk: &TrialDesk, json: bool) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let household = TrialIdentities::create(desk).await?;
    let url = desk.config.public_url();
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
    async fn create(desk: &TrialDesk) -> anyhow::Result<Self> {
        let register = desk.register();
        let scope = TenantScope::for_tenant(register.create_tenant("dev").await?)
            .with_actor(Actor::Operator);
        let agent = register.store().create_agent(scope, "echo").await?;
        let settings = json!({
            "title": "Echo",
            "greeting": "This agent echoes what you write. Say hello.",
        });
        let path = desk.open_page(scope, agent, NewPage { handle: "dev", settings }).await?;
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

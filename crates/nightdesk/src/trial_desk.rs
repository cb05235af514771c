//! A complete desk for a trial, on its own PostgreSQL. Its data is removed at the end.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use nightdesk_office::Office;
use nightdesk_register::{AgentOnBot, BotDraft, Register, new_secret};
use nightdesk_servers::{Durability, Options, Postgres};
use nightdesk_store_pg::{connect_options, migrate};
use nightdesk_types::{AgentId, GrantTarget, Principal, TenantScope};
use nightdesk_vault::Vault;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::config::Config;
use crate::wiring::RunningNode;
use crate::{telemetry, ui};

const DATABASE: &str = "postgres";

/// A running desk.
pub(crate) struct TrialDesk {
    pub(crate) config: Arc<Config>,
    node: RunningNode,
}

impl TrialDesk {
    /// Starts a desk, and stops it when the work is done. `set` changes the settings of a trial.
    pub(crate) async fn run<T>(
        address: SocketAddr,
        set: impl FnOnce(&mut Config),
        work: impl AsyncFnOnce(&Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        ui::print_text("starting a private PostgreSQL server …");
        // As an operator's server: a node refuses one that does not wait for its disk.
        let options = Options { durability: Durability::Fsync, ..Options::default() };
        let postgres = spawn_blocking(move || Postgres::start(&options)).await??;
        let mut config = Config::for_trial(address, postgres.port(), DATABASE);
        set(&mut config);
        let ran = run_on(&postgres, config, work).await;
        // The drop waits for the server to end and removes its files.
        spawn_blocking(|| drop(postgres)).await?;
        ran
    }

    pub(crate) fn register(&self) -> &Register {
        self.node.register()
    }

    /// Returns the functions of operators and tenants.
    pub(crate) fn office(&self) -> &Office {
        self.node.office()
    }

    /// Creates a chat page that is open to anyone, and an agent behind it. Returns the page's path.
    pub(crate) async fn open_page(
        &self,
        scope: TenantScope,
        agent: AgentId,
        page: NewPage<'_>,
    ) -> anyhow::Result<String> {
        let webchat = nightdesk_webchat::NAME;
        let draft = BotDraft {
            platform: webchat.to_owned(),
            adapter: webchat.to_owned(),
            handle: page.handle.to_owned(),
            settings: page.settings,
            key: Some(new_secret()),
        };
        let (bot, path) = self.register().create_bot(scope, draft).await?;
        let on = AgentOnBot { scope, agent, bot };
        let store = self.register().store();
        store.grant(on, &GrantTarget::Bot, Some(Principal::Any)).await?;
        Ok(path)
    }
}

/// A chat page to create.
pub(crate) struct NewPage<'p> {
    pub(crate) handle: &'p str,
    pub(crate) settings: Value,
}

async fn run_on<T>(
    postgres: &Postgres,
    config: Config,
    work: impl AsyncFnOnce(&TrialDesk) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let admin = connect_options(&postgres.admin_url(DATABASE), None)?;
    migrate(&admin, None).await.context("could not set the database up")?;
    let config = Arc::new(config);
    let telemetry = telemetry::start(&config)?;
    let vault = Vault::from_key_file(&Vault::new_key_file())?;
    let node = RunningNode::start(&config, vault).await?;
    let desk = TrialDesk { config, node };
    let worked = work(&desk).await;
    desk.node.stop().await;
    telemetry.close();
    worked
}

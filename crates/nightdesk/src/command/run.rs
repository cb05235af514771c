//! Which command does what.

use anyhow::Context;
use nightdesk_store_pg::{connect_options, migrate};
use nightdesk_vault::Vault;
use tracing_subscriber::EnvFilter;

use super::{Arguments, Command, Key, enter};
use crate::config::{Config, password};
use crate::{ui, wiring};

/// Runs a command.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { command, config, json } = arguments;
    if let Command::Key(Key::New) = command {
        ui::put(&Vault::new_key_file());
        return Ok(());
    }
    let config = Config::read(&config)?;
    match command {
        Command::Serve => {
            log();
            wiring::serve(&config).await
        }
        Command::Migrate => migrated(&config).await,
        Command::Key(Key::New) => Ok(()),
        Command::Tenant(_)
        | Command::Agent(_)
        | Command::Bot(_)
        | Command::Binding(_)
        | Command::Grant(_)
        | Command::Gateway(_) => {
            let answer = enter::run(&config, command).await?;
            ui::put_answer(json, &answer);
            Ok(())
        }
    }
}

async fn migrated(config: &Config) -> anyhow::Result<()> {
    let database = &config.database;
    let url = database.migrate_url.as_ref().unwrap_or(&database.url);
    let file = database.migrate_password_file.as_ref().or(database.password_file.as_ref());
    let password = password(file.map(std::path::PathBuf::as_path))?;
    let options =
        connect_options(url, password.as_deref()).context("a database URL is not PostgreSQL's")?;
    migrate(&options).await.context("could not bring the database up to date")?;
    ui::say("the database is up to date");
    Ok(())
}

/// Libraries that would log what people write, or a token, if they were let speak finely.
const HUSHED: [&str; 3] = ["tungstenite=info", "tokio_tungstenite=info", "hyper=info"];

fn log() {
    let info = tracing::Level::INFO.into();
    let filter = EnvFilter::builder().with_default_directive(info).from_env_lossy();
    let hushed = HUSHED.iter().filter_map(|directive| directive.parse().ok());
    let filter = hushed.fold(filter, EnvFilter::add_directive);
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

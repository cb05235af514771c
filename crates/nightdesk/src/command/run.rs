//! Dispatches commands.

use std::sync::Arc;

use anyhow::{Context, ensure};
use nightdesk_store_pg::{connect_options, migrate};
use nightdesk_vault::Vault;
use serde_json::json;

use super::dev::DevSettings;
use super::{
    AdminSubcommand, Arguments, Command, ConfigSubcommand, ConformanceSubcommand, DeskCommand,
    KeySubcommand, check, dev, dispatch, doctor, history, keys, login, skill,
};
use crate::config::Config;
use crate::config::secret_file::password;
use crate::ui::CommandOutput;
use crate::{conformance, failpoints, telemetry, ui, wiring};

/// Runs a command.
#[expect(clippy::cognitive_complexity, reason = "one arm for each command")]
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { command, config, json, at } = arguments;
    let read = || Config::read(&config);
    match command {
        Command::Serve => serve(Arc::new(read()?)).await,
        Command::Dev { listen, webhook } => dev::run(DevSettings { listen, webhook, json }).await,
        Command::Conformance(ConformanceSubcommand::Agent(trial)) => {
            conformance::run(trial, json).await
        }
        Command::Login(args) => {
            ui::print_output(json, login::login(&at, args).await?);
            Ok(())
        }
        Command::Logout => {
            ui::print_output(json, login::logout(&at).await?);
            Ok(())
        }
        Command::Whoami => {
            ui::print_output(json, login::whoami(&at).await?);
            Ok(())
        }
        Command::Admin(AdminSubcommand::Link { name }) => {
            ui::print_output(json, login::admin_link(&read()?, &name).await?);
            Ok(())
        }
        Command::Migrate => run_migrate(&read()?, json).await,
        Command::Config(ConfigSubcommand::Check) => check::run(&read()?, json).await,
        Command::Doctor(args) => print_checked(json, doctor::run(&args, &at, &config).await?),
        Command::Key(KeySubcommand::New) => {
            let key = Vault::new_key_file();
            if json {
                ui::print_output(json, CommandOutput::One(json!({ "key": key.as_str() })));
            } else {
                ui::put(&key);
            }
            Ok(())
        }
        Command::Key(KeySubcommand::Rotate) => {
            ui::print_output(json, keys::rotate(&read()?).await?);
            Ok(())
        }
        Command::History(command) => {
            ui::print_output(json, history::run(&read()?, command).await?);
            Ok(())
        }
        Command::Desk(DeskCommand::Skill(command)) if command.is_local() => {
            print_checked(json, skill::run_locally(command).await?)
        }
        Command::Desk(command) => print_checked(json, dispatch::run(&at.client()?, command).await?),
    }
}

/// Prints an answer, and fails if it is that of a check that found errors.
fn print_checked(json: bool, answer: CommandOutput) -> anyhow::Result<()> {
    let wrong = answer.fault_count();
    ui::print_output(json, answer);
    ensure!(wrong == 0, "the check found errors; fix them as shown above");
    Ok(())
}

async fn serve(config: Arc<Config>) -> anyhow::Result<()> {
    let telemetry = telemetry::start(&config)?;
    let served = wiring::serve(&config).await;
    telemetry.close();
    served
}

async fn run_migrate(config: &Config, json: bool) -> anyhow::Result<()> {
    let database = &config.database;
    let url = database.migrate_url.as_ref().unwrap_or(&database.url);
    let file = database.migrate_password_file.as_ref().or(database.password_file.as_ref());
    let password = password(file.map(std::path::PathBuf::as_path))?;
    let options = connect_options(url, password.as_deref())
        .context("the database URL is not a PostgreSQL URL")?;
    let further = failpoints::next_release();
    migrate(&options, further.as_deref()).await.context("could not migrate the database")?;
    ui::print_text("the database is up to date");
    if json {
        ui::print_output(json, CommandOutput::One(json!({ "up_to_date": true })));
    }
    Ok(())
}

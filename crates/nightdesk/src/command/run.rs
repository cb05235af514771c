//! Dispatches commands.

use anyhow::{Context, ensure};
use nightdesk_store_pg::{connect_options, migrate};
use nightdesk_vault::Vault;
use serde_json::json;

use super::dev::DevSettings;
use super::{
    Arguments, Command, ConfigSubcommand, ConformanceSubcommand, KeySubcommand, check, dev,
    dispatch, keys, verify,
};
use crate::config::Config;
use crate::config::secret_file::password;
use crate::ui::CommandOutput;
use crate::{conformance, failpoints, telemetry, ui, wiring};

/// Runs a command.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { command, config, json } = arguments;
    let read = || Config::read(&config);
    match command {
        Command::Serve => serve(&read()?).await,
        Command::Dev { listen, webhook } => dev::run(DevSettings { listen, webhook, json }).await,
        Command::Conformance(ConformanceSubcommand::Agent(trial)) => {
            conformance::run(trial, json).await
        }
        Command::Migrate => run_migrate(&read()?, json).await,
        Command::Config(ConfigSubcommand::Check) => check::run(&read()?, json).await,
        Command::Verify(asked) => verify::run(&read()?, asked, json).await,
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
        Command::Tenant(_)
        | Command::Agent(_)
        | Command::Bot(_)
        | Command::Explain(_)
        | Command::Link(_)
        | Command::Binding(_)
        | Command::Grant(_)
        | Command::Gateway(_)
        | Command::Issuer(_)
        | Command::Inbox(_)
        | Command::Wake(_)
        | Command::Schedule(_)
        | Command::Skill(_)
        | Command::Data(_)
        | Command::Letter(_)
        | Command::Notice(_)
        | Command::History(_)
        | Command::Audit(_) => {
            let answer = dispatch::run(&read()?, command).await?;
            let wrong = answer.fault_count();
            ui::print_output(json, answer);
            ensure!(wrong == 0, "the check found errors; fix them as shown above");
            Ok(())
        }
    }
}

async fn serve(config: &Config) -> anyhow::Result<()> {
    let telemetry = telemetry::start(config)?;
    let served = wiring::serve(config).await;
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

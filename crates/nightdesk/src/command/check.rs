//! `config check`: checks that a node could run with this configuration.

use anyhow::bail;
use serde_json::{Value, json};

use crate::config::Config;
use crate::wiring::checkup::Checkup;
use crate::{certificate, ui};

/// Checks everything that a node needs before it serves. Fails if something is missing.
pub(super) async fn run(config: &Config, json: bool) -> anyhow::Result<()> {
    let checks = all_checks(config).await;
    if json {
        ui::put(&checks.iter().map(ConfigCheck::to_json).collect::<Value>().to_string());
    } else {
        for check in &checks {
            ui::put(&check.to_line());
        }
    }
    let failed = checks.iter().filter(|check| check.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {} checks failed; fix the errors above", checks.len());
    }
    Ok(())
}

async fn all_checks(config: &Config) -> Vec<ConfigCheck> {
    let checkup = Checkup::of_configuration(config);
    let durability = checkup.check_durability().await.map(|report| report.to_string());
    let mut checks = vec![
        ConfigCheck::new("the vault's keys open all sealed values", checkup.check_vault().await),
        ConfigCheck::new(
            "secret files are readable only by their owner",
            checkup.check_secret_files(),
        ),
        ConfigCheck::new("the database responds, and is migrated", checkup.check_database().await),
        ConfigCheck::finding("the database keeps what it confirmed", durability),
        ConfigCheck::new("the clock agrees with the database", checkup.check_clock().await),
        ConfigCheck::new("the store of files holds nothing else", checkup.check_media().await),
    ];
    if config.erasure.list_file.is_some() {
        let listed = checkup.check_erasures().await.map(|listed| format!("{listed} tenants"));
        checks.push(ConfigCheck::finding("the list of erased tenants is whole", listed));
    }
    if let Some(files) = config.listen.tls_files() {
        let result = certificate::read_valid(files).map(drop);
        checks.push(ConfigCheck::new("the certificate can be served", result));
    }
    if let Some(redis) = &config.redis {
        checks.push(ConfigCheck::new("Redis responds", checkup.check_redis(redis).await));
    }
    if !config.ways.is_empty() {
        let result = checkup.check_ways().await;
        checks.push(ConfigCheck::new("the configured ways of letters work", result));
    }
    checks
}

/// One check of the configuration, and its result.
struct ConfigCheck {
    name: &'static str,
    /// The finding that the operator should know, if there is one.
    result: anyhow::Result<Option<String>>,
}

impl ConfigCheck {
    fn new(name: &'static str, result: anyhow::Result<()>) -> Self {
        Self { name, result: result.map(|()| None) }
    }

    /// A check that succeeds with a finding.
    fn finding(name: &'static str, result: anyhow::Result<String>) -> Self {
        Self { name, result: result.map(Some) }
    }

    fn to_json(&self) -> Value {
        let name = self.name;
        match &self.result {
            Ok(None) => json!({ "check": name, "ok": true }),
            Ok(Some(found)) => json!({ "check": name, "ok": true, "found": found }),
            Err(error) => json!({ "check": name, "ok": false, "error": format!("{error:#}") }),
        }
    }

    fn to_line(&self) -> String {
        let name = self.name;
        match &self.result {
            Ok(None) => format!("ok      {name}"),
            Ok(Some(found)) => format!("ok      {name}: {found}"),
            Err(error) => format!("FAILED  {name}: {error:#}"),
        }
    }
}

//! Runs a desk with full logs and traces, and an operator with its commands.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nightdesk_types::{DataKeyId, TenantId};
use nightdesk_vault::Vault;
use serde_json::Value;
use uuid::Uuid;

use super::dig::WITHOUT_RIGHTS;
use super::sink::Sink;
use crate::chaos::mutation::Mutation;
use crate::cluster::Cluster;
use crate::desk::{Desk, Settings, free_address};
use crate::procfs::signal;
use crate::setup::{Cast, Size};
use crate::stage::{DATABASE, seeded};
use crate::ui;

/// Time limit for the desk to reread its keys.
const PATIENCE: Duration = Duration::from_secs(10);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The most detailed log level.
const LOGS: &str = "trace";

/// All parts of the proof.
#[derive(Debug)]
pub struct World {
    /// The desk.
    pub desk: Desk,
    /// The operator.
    pub operator: Operator,
    /// The tenants and agents.
    pub cast: Cast,
    /// Address of the metrics.
    pub metrics: SocketAddr,
    pub(crate) sink: Sink,
    /// PostgreSQL.
    pub cluster: Cluster,
}

/// The operator, which has the desk's configuration and key file, and is logged in.
#[derive(Debug)]
pub struct Operator {
    settings: Settings,
    /// All vault keys so far.
    pub vault_keys: Vec<String>,
    /// The token of its requests.
    pub token: String,
}

impl World {
    /// Creates this many agents, and starts the desk.
    pub async fn set(binary: &Path, agents: usize, mutation: Mutation) -> Result<Self> {
        let (cluster, sink) = (Cluster::start()?, Sink::open().await?);
        let size = Size { deliver_url: Some(sink.deliver_url()), ..Size::of(agents / 2, agents) };
        let binary = without_rights(binary, cluster.folder())?;
        let (cluster, settings, cast) = tokio::task::spawn_blocking(move || {
            let (settings, cast) = seeded(&binary, &cluster, DATABASE, &size)?;
            anyhow::Ok((cluster, settings, cast))
        })
        .await??;
        let metrics = free_address()?;
        let more = format!(
            "[metrics]\naddress = \"{metrics}\"\n[traces]\notlp_url = \"{}\"\n\
             [log]\nfilter = \"{LOGS}\"\n",
            sink.traces_url()
        );
        let settings = settings.node("desk-1", cluster.folder(), &more)?;
        let key = fs::read_to_string(settings.key_file()).context("could not read the key")?;
        mutation.alter(&cluster)?;
        let desk = settings.start_with(&mutation.environment())?;
        let token = settings.log_in()?;
        let operator = Operator { settings, vault_keys: vec![key.trim().to_owned()], token };
        Ok(Self { desk, operator, cast, metrics, sink, cluster })
    }

    /// Creates this many additional tenants, each with a data key, with a bulk copy.
    pub fn enter_tenants(&self, tenants: usize) -> Result<()> {
        ui::say(&format!("entering {tenants} tenants with a data key each"));
        let (vault, folder) = (self.operator.settings.vault()?, self.cluster.folder());
        let (mut names, mut keys) = (String::new(), String::new());
        for number in 0..tenants {
            let id = TenantId::from_uuid(Uuid::from_u128((0xface << 64) | number as u128));
            let (_, wrapped) = vault.new_data_key(id, DataKeyId::new(1));
            writeln!(names, "{id},many-{number}")?;
            writeln!(keys, "{id},1,\\x{}", hex::encode(wrapped.0))?;
        }
        for (table, columns, rows) in [
            ("tenants", "tenant_id, name", names),
            ("tenant_keys", "tenant_id, key_id, wrapped", keys),
        ] {
            let file = folder.join(table);
            fs::write(&file, rows).context("could not write rows")?;
            let copy = format!("copy {table} ({columns}) from '{}' csv", file.display());
            self.cluster.ask(DATABASE, &copy)?;
            fs::remove_file(file).context("could not remove rows")?;
        }
        Ok(())
    }

    /// Makes the desk reread its key file, and waits for the confirmation in its log.
    pub fn keys_changed(&self) -> Result<()> {
        let said = || self.desk.log().matches("vault keys reloaded").count();
        let before = said();
        signal("HUP", &[self.desk.pid()])?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if said() > before {
                return Ok(());
            }
            thread::sleep(LOOK_EVERY);
        }
        bail!("the desk does not read its keys again; its log ends:\n{}", self.desk.log_tail())
    }
}

/// Returns a script that runs the binary without Linux capabilities. A desk should run like this, and then a process of
/// the same kind is not excluded by that alone.
fn without_rights(binary: &Path, folder: &Path) -> Result<PathBuf> {
    let binary = binary.canonicalize().context("there is no desk")?;
    let (rights, file) = (WITHOUT_RIGHTS.join(" "), folder.join("nightdesk"));
    let script = format!("#!/bin/sh\nexec setpriv {rights} {} \"$@\"\n", binary.display());
    fs::write(&file, script).context("could not write a script")?;
    fs::set_permissions(&file, Permissions::from_mode(0o755)).context("could not allow it")?;
    Ok(file)
}

impl Operator {
    /// Runs a command of the desk's binary, and parses its output.
    pub fn run(&self, arguments: &[&str]) -> Result<Value> {
        self.run_with(&[], arguments)
    }

    /// Runs a command with these environment variables.
    pub fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Result<Value> {
        let output = self.settings.command(environment, arguments)?;
        ensure!(
            output.status.success(),
            "`nightdesk {}` ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).context("a command did not put out JSON")
    }

    /// Creates a new vault key, which is not in the key file yet.
    pub fn new_vault_key(&mut self) -> String {
        let key = Vault::new_key_file().to_string();
        self.vault_keys.push(key.clone());
        key
    }

    /// Replaces the key file.
    pub fn write_keys(&self, keys: &[&str]) -> Result<()> {
        fs::write(self.settings.key_file(), keys.join("\n")).context("could not write the key file")
    }

    /// Writes a file for a command.
    pub fn file(&self, name: &str, text: &str) -> Result<String> {
        let file = self.settings.key_file().with_file_name(name);
        fs::write(&file, text).context("could not write a file")?;
        Ok(file.display().to_string())
    }
}

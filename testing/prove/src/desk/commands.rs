//! Runs the commands of an administrator. Most of them are requests to a node, with the administrator's token.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Settings;
use crate::cluster::output;

impl Settings {
    /// Logs an administrator in at this node, which must serve. The commands at all nodes of the desk have the token from
    /// then on. Returns it.
    pub fn log_in(&self) -> Result<String> {
        let credentials = self.folder.join("credentials.json");
        let link = self.operator_link("Administrator")?;
        let mut login = self.prepare(&["login", "--link", link.trim()]);
        output(login.env("NIGHTDESK_CREDENTIALS", &credentials))?;
        let stored = fs::read(&credentials).context("could not read the login")?;
        let stored: Value = serde_json::from_slice(&stored).context("a login is no JSON")?;
        let token = stored["tokens"][self.url()].as_str().context("the login has no token")?;
        // A login is for one address, but the token is valid at all nodes.
        fs::write(self.token_file(), token).context("could not write the token")?;
        Ok(token.to_owned())
    }

    /// Returns a link that logs the operator of this name in. The command opens the database, so no node need serve.
    pub fn operator_link(&self, name: &str) -> Result<String> {
        output(&mut self.prepare(&["admin", "link", "--name", name]))
    }

    /// Runs a command of the binary to its end. If it is a request, this node gets it.
    pub fn command(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Result<Output> {
        let mut command = self.prepare(arguments);
        command.envs(environment.iter().copied());
        command.output().context("could not run a command of the desk")
    }

    fn prepare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).arg("--config").arg(&self.config).current_dir(&self.folder);
        command.env("NIGHTDESK_DESK", self.url()).env("NIGHTDESK_TOKEN_FILE", self.token_file());
        command
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn token_file(&self) -> PathBuf {
        self.folder.join("administrator.token")
    }
}

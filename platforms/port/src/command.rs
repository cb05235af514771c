//! Command: what people can ask of an agent by its name.

use serde::Serialize;
use serde_json::Value;

/// A command that an agent offers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Command {
    /// Its name, without a slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its options, as the platform writes them.
    pub options: Vec<Value>,
}

/// What is done about a command in one scope of a platform: in one guild.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandChange {
    /// It is made known, in place of what had its name there.
    Told(Command),
    /// It is taken back, by what the platform calls it.
    TakenBack(String),
}

//! Commands that people can send to an agent by name.

use serde::Serialize;
use serde_json::Value;

/// A command that an agent offers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlatformCommand {
    /// Name without a slash.
    pub name: String,
    /// Description that the platform shows to people.
    pub description: String,
    /// Options in the platform's format.
    pub options: Vec<Value>,
}

/// A change to a command in one scope of a platform, such as a guild.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandChange {
    /// The command is registered and replaces the command of the same name.
    Told(PlatformCommand),
    /// The command with this platform id is removed.
    TakenBack(String),
}

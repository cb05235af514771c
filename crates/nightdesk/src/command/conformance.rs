//! `conformance`: tests programs against a trial desk.

use clap::{Args, Subcommand};

use crate::conformance::{TrialScenario, TrialTransport};

#[derive(Debug, Subcommand)]
pub(crate) enum ConformanceSubcommand {
    /// Run an agent against a desk that makes its life hard, and judge it from outside. The agent must answer each
    /// message with its text. It finds its settings in its environment: see docs/agents.md.
    #[command(
        after_help = "Example:\n  nightdesk conformance agent --transport line -- python echo.py\n\nThe agent gets NIGHTDESK_TRANSPORT, NIGHTDESK_URL, NIGHTDESK_GATEWAY, NIGHTDESK_SECRET, and for a webhook NIGHTDESK_WEBHOOK_SECRET and PORT, on which it listens. A message `wait N WORD` asks for a turn of N seconds."
    )]
    Agent(AgentTrialArgs),
}

/// A trial of an agent.
#[derive(Debug, Args)]
pub(crate) struct AgentTrialArgs {
    /// The transport between the agent and the desk.
    #[arg(long, value_enum, default_value_t = TrialTransport::Line)]
    pub(crate) transport: TrialTransport,
    /// Only this scenario. May be given several times.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) scenario: Vec<TrialScenario>,
    /// The command that starts the agent.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

//! Registers the commands of an agent's hello in the guilds that are granted to the agent as a whole, and nowhere else.
//!
//! A bot may be shared, so no command is registered in all of its guilds. A guild shows its commands in every chat, so
//! an agent that has a grant for a single chat registers none there. If nothing changed, the desk makes no platform
//! call.

use std::error::Error;
use std::sync::Arc;

use nightdesk_egress::Egress;
use nightdesk_line::AuthenticatedGateway;
use nightdesk_port::{CommandChange, DeliverError, PlatformCommand};
use nightdesk_protocol::hello;
use nightdesk_register::{AgentOnBot, CommandDigest, HeldCommand, Register};
use nightdesk_types::limits::{
    AGENT_COMMANDS_MAX, COMMAND_SCOPES_MAX, COMMANDS_WAIT, STOP_NOTICED_WITHIN,
};
use nightdesk_types::{AgentId, BotId, GrantTarget, StoreError};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use crate::Stops;
use crate::pause::pause;

/// One change to a command.
#[derive(Clone, Debug, PartialEq)]
struct CommandStep {
    scope_id: String,
    name: String,
    /// The digest of the command that the platform has after this step. `None` removes the command.
    digest: Option<CommandDigest>,
    /// `None` if the platform never had the command.
    change: Option<CommandChange>,
}

/// Registers the commands of agents with platforms.
#[derive(Debug)]
pub(crate) struct Commands {
    register: Arc<Register>,
    egress: Arc<Egress>,
    tasks: TaskTracker,
}

impl Commands {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { register, egress, tasks, .. } = stops.clone();
        Self { register, egress, tasks }
    }

    /// Registers the commands of a hello in the background.
    pub(crate) fn announce(
        self: &Arc<Self>,
        caller: AuthenticatedGateway,
        bot: BotId,
        offered: &[hello::HelloCommand],
    ) {
        let AuthenticatedGateway { scope, agent, .. } = caller;
        let command = |one: &hello::HelloCommand| {
            let hello::HelloCommand { name, description, options } = one.clone();
            PlatformCommand { name, description, options }
        };
        if offered.len() > AGENT_COMMANDS_MAX {
            tracing::warn!(
                agent.id = %agent,
                "agent {agent} offers {} commands; only the first {AGENT_COMMANDS_MAX} are registered",
                offered.len()
            );
        }
        let offered: Vec<PlatformCommand> =
            offered.iter().take(AGENT_COMMANDS_MAX).map(command).collect();
        let commands = Arc::clone(self);
        self.tasks.spawn(async move {
            let until = Instant::now() + COMMANDS_WAIT;
            let told = commands.register_commands(AgentOnBot { scope, agent, bot }, &offered);
            match timeout_at(until, told).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(
                    agent.id = %agent,
                    error = &error as &dyn Error,
                    "could not register the commands of agent {agent}; its next hello retries"
                ),
                Err(_) => tracing::warn!(
                    agent.id = %agent,
                    "could not register all commands of agent {agent} in time; its next hello retries"
                ),
            }
        });
    }

    async fn register_commands(
        &self,
        on: AgentOnBot,
        offered: &[PlatformCommand],
    ) -> Result<(), StoreError> {
        let store = self.register.store();
        let held = store.commands_of(on.scope, on.agent, on.bot).await?;
        if offered.is_empty() && held.is_empty() {
            return Ok(());
        }
        let grants = store.reach_of(on.scope, on.agent).await?.grants;
        let mut scopes: Vec<String> = grants
            .into_iter()
            .filter(|(bot, ..)| *bot == on.bot)
            .filter_map(|(_, granted, _)| scope_of(granted))
            .collect();
        scopes.sort();
        scopes.dedup();
        scopes.truncate(COMMAND_SCOPES_MAX);
        for step in plan_steps(offered, &scopes, &held) {
            self.execute_step(on, step).await?;
        }
        Ok(())
    }

    /// Executes one step. The agent claims the name before the platform call; a change that the platform refuses is
    /// retried with the next hello.
    async fn execute_step(&self, on: AgentOnBot, step: CommandStep) -> Result<(), StoreError> {
        let store = self.register.store();
        let CommandStep { scope_id, name, digest, change } = step;
        if digest.is_some() && !store.claim_command(on, &scope_id, &name).await? {
            log_name_taken(on.agent);
            return Ok(());
        }
        let answered = match &change {
            Some(change) => self.call(on.bot, &scope_id, change).await,
            None => Ok(None),
        };
        match (answered, digest) {
            (Ok(id), Some(digest)) => {
                let told = id.map(|id| (digest, id));
                store.note_command(on, &HeldCommand { scope_id, name, registered: told }).await
            }
            (Ok(_), None) => store.drop_command(on, &scope_id, &name).await,
            (Err(error), _) => {
                log_refused_command(on.agent, &error);
                Ok(())
            }
        }
    }

    /// Calls the platform and retries when it is rate limited.
    async fn call(
        &self,
        bot: BotId,
        scope_id: &str,
        change: &CommandChange,
    ) -> Result<Option<String>, DeliverError> {
        loop {
            let answered = self.egress.change_command(bot, scope_id, change, COMMANDS_WAIT).await;
            // The caller's timeout bounds all retries together.
            if let Err(DeliverError::RateLimited { retry_after }) = answered
                && pause(&self.tasks, retry_after.max(STOP_NOTICED_WITHIN)).await
            {
                continue;
            }
            return answered.map(|receipt| receipt.message_id);
        }
    }
}

/// Returns the guild of a grant if the grant covers the whole guild.
fn scope_of(granted: GrantTarget) -> Option<String> {
    match granted {
        GrantTarget::Scope(scope) => Some(scope),
        GrantTarget::Chat { .. } | GrantTarget::Bot => None,
    }
}

/// Returns the steps after which the platform has exactly the offered commands in these scopes and in no other.
fn plan_steps(
    offered: &[PlatformCommand],
    scopes: &[String],
    held: &[HeldCommand],
) -> Vec<CommandStep> {
    let is_offered = |one: &HeldCommand| {
        scopes.contains(&one.scope_id) && offered.iter().any(|command| command.name == one.name)
    };
    let gone = held.iter().filter(|one| !is_offered(one)).map(|one| CommandStep {
        scope_id: one.scope_id.clone(),
        name: one.name.clone(),
        digest: None,
        change: one.registered.clone().map(|(_, id)| CommandChange::TakenBack(id)),
    });
    let told = |scope_id: &str, command: &PlatformCommand| {
        let written = serde_json::to_vec(command).unwrap_or_default();
        let digest = CommandDigest::from_bytes(&written);
        let before = held.iter().find(|one| one.scope_id == scope_id && one.name == command.name);
        let before = before.and_then(|one| one.registered.as_ref());
        let is_told = before.is_some_and(|(before, _)| *before == digest);
        (!is_told).then(|| CommandStep {
            scope_id: scope_id.to_owned(),
            name: command.name.clone(),
            digest: Some(digest),
            change: Some(CommandChange::Told(command.clone())),
        })
    };
    let news = scopes
        .iter()
        .flat_map(|scope_id| offered.iter().filter_map(move |command| told(scope_id, command)));
    gone.chain(news).collect()
}

fn log_name_taken(agent: AgentId) {
    tracing::info!(
        agent.id = %agent,
        "a command of agent {agent} is not registered: another agent uses its name there"
    );
}

fn log_refused_command(agent: AgentId, error: &DeliverError) {
    tracing::warn!(
        agent.id = %agent,
        error = error as &dyn Error,
        "the platform did not register a command of agent {agent}; its next hello retries"
    );
}

#[cfg(test)]
mod tests;

//! Wakes agents with a program of the operator, for self-hosted desks.
//!
//! Only the operator's configuration names the program. Of a tenant it gets nothing but ids, which the desk created.
//! There is no shell.

use std::process::Stdio;
use std::time::{Duration, Instant};

use nightdesk_types::limits::{WAKE_COMMAND_BYTES_MAX, WAKE_COMMAND_WAIT};
use nightdesk_types::{AgentId, TenantId};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

use crate::CallOutcome;

/// Placeholder for the agent's id in an argument.
const AGENT: &str = "{agent}";

/// Placeholder for the tenant's id in an argument.
const TENANT: &str = "{tenant}";

/// Search path of the program.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The reason why a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WakeCommandError {
    /// It names no program by its whole path.
    #[error("wake.command must begin with the full path of a program, like /usr/local/bin/wake")]
    NoProgram,
    /// No argument has the placeholder of the agent.
    #[error("wake.command has no argument with {{agent}}, so it would not know the agent to wake")]
    NoAgent,
}

/// The operator's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeCommand {
    program: String,
    arguments: Vec<String>,
    wait: Duration,
}

impl WakeCommand {
    /// Checks a program and its arguments.
    pub fn new(command: &[String]) -> Result<Self, WakeCommandError> {
        let (program, arguments) = command.split_first().ok_or(WakeCommandError::NoProgram)?;
        if !program.starts_with('/') {
            return Err(WakeCommandError::NoProgram);
        }
        if !arguments.iter().any(|argument| argument.contains(AGENT)) {
            return Err(WakeCommandError::NoAgent);
        }
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Ok(Self { program, arguments, wait: WAKE_COMMAND_WAIT })
    }

    /// Runs the command for an agent until it ends or times out.
    pub(crate) async fn call(&self, tenant: TenantId, agent: AgentId) -> CallOutcome {
        let began = Instant::now();
        match timeout(self.wait, self.run(tenant, agent)).await {
            Ok(Ok((Some(0), _))) => CallOutcome::Taken(format!(
                "the command succeeded in {} ms",
                began.elapsed().as_millis()
            )),
            Ok(Ok((Some(code), said))) => {
                CallOutcome::Failed(format!("the command exited with code {code}: {}", said.trim()))
            }
            Ok(Ok((None, _))) => CallOutcome::Failed("the command was killed".to_owned()),
            Ok(Err(error)) => CallOutcome::Failed(format!("the command could not be run: {error}")),
            Err(_) => CallOutcome::Failed(format!(
                "the command took more than {} s and was stopped",
                self.wait.as_secs()
            )),
        }
    }

    async fn run(
        &self,
        tenant: TenantId,
        agent: AgentId,
    ) -> std::io::Result<(Option<i32>, String)> {
        let (tenant, agent) = (tenant.to_string(), agent.to_string());
        let filled = |argument: &String| argument.replace(AGENT, &agent).replace(TENANT, &tenant);
        let mut child = Command::new(&self.program)
            .args(self.arguments.iter().map(filled))
            .env_clear()
            .env("PATH", PATH)
            .env("NIGHTDESK_AGENT", &agent)
            .env("NIGHTDESK_TENANT", &tenant)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A timeout drops the process, which kills it.
            .kill_on_drop(true)
            .spawn()?;
        let said = match child.stderr.take() {
            Some(stderr) => read_start(stderr).await?,
            None => String::new(),
        };
        Ok((child.wait().await?.code(), said))
    }
}

/// Returns the start of a program's output. The rest is read and discarded.
async fn read_start(mut said: impl AsyncRead + Unpin) -> std::io::Result<String> {
    let mut words = Vec::new();
    let bytes_max = u64::try_from(WAKE_COMMAND_BYTES_MAX).unwrap_or(u64::MAX);
    (&mut said).take(bytes_max).read_to_end(&mut words).await?;
    tokio::io::copy(&mut said, &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&words).into_owned())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const TENANT_ID: TenantId = TenantId::from_uuid(Uuid::from_u128(1));
    const AGENT_ID: AgentId = AgentId::from_uuid(Uuid::from_u128(2));

    fn sh(script: &str) -> WakeCommand {
        let command = ["/bin/sh", "-c", script, "sh", AGENT, TENANT].map(str::to_owned);
        WakeCommand::new(&command).unwrap()
    }

    async fn said(command: &WakeCommand) -> String {
        match command.call(TENANT_ID, AGENT_ID).await {
            CallOutcome::Failed(words) | CallOutcome::Taken(words) => words,
            CallOutcome::PutOff(_) => unreachable!("nobody puts a command off"),
        }
    }

    #[test]
    fn a_command_names_its_program_and_the_agent() {
        let new = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            WakeCommand::new(&command).map(drop)
        };

        assert_eq!(new(&[]), Err(WakeCommandError::NoProgram));
        assert_eq!(
            new(&["wake", AGENT]),
            Err(WakeCommandError::NoProgram),
            "found by nobody's path"
        );
        assert_eq!(new(&["/bin/wake", "all"]), Err(WakeCommandError::NoAgent));
        assert_eq!(new(&["/bin/wake", "--agent={agent}"]), Ok(()));
    }

    #[tokio::test]
    async fn its_end_is_the_outcome() {
        assert!(matches!(sh("exit 0").call(TENANT_ID, AGENT_ID).await, CallOutcome::Taken(_)));
        assert_eq!(said(&sh("echo oh >&2; exit 3")).await, "the command exited with code 3: oh");
        let gone = WakeCommand { program: "/nowhere/at/all".to_owned(), ..sh("") };
        assert!(said(&gone).await.starts_with("the command could not be run"));
    }

    #[tokio::test]
    async fn it_gets_ids_and_nothing_else() {
        let words = said(&sh("echo $1 $2 >&2; env | cut -d= -f1 | sort >&2; exit 1")).await;

        let words: Vec<&str> = words.split_whitespace().skip(6).collect();
        let (agent, tenant) = (AGENT_ID.to_string(), TENANT_ID.to_string());
        assert_eq!(words[..2], [agent.as_str(), tenant.as_str()]);
        // A shell adds its own variables.
        let given =
            words[2..].iter().filter(|name| !["PWD", "_", "SHLVL", "OLDPWD"].contains(name));
        let given: Vec<&&str> = given.collect();
        assert_eq!(given, [&"NIGHTDESK_AGENT", &"NIGHTDESK_TENANT", &"PATH"]);
    }

    #[tokio::test]
    async fn one_that_hangs_is_ended_and_one_that_babbles_is_cut_short() {
        let hangs = WakeCommand { wait: Duration::from_millis(50), ..sh("exec sleep 60") };
        assert!(said(&hangs).await.contains("was stopped"));
        let babbles = said(&sh("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1")).await;
        assert!(babbles.len() < WAKE_COMMAND_BYTES_MAX + 100, "{}", babbles.len());
    }
}

//! Runs a command with a temporary PostgreSQL, and optionally a Redis.
//!
//! The command finds their addresses in its environment. Its exit status becomes the exit status of xtask. If xtask is
//! ended first, by Ctrl-C or otherwise, on Linux the command gets SIGTERM, and the guards of the servers end them.

use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, bail};
use nightdesk_servers::{Durability, Options, Postgres, Redis};

/// The parsed arguments.
#[derive(Debug, PartialEq, Eq)]
struct Request<'a> {
    durability: Durability,
    redis: bool,
    command: &'a [&'a str],
}

/// Starts the servers, runs the command, and stops the servers.
pub(crate) fn run(args: &[&str]) -> Result<ExitCode> {
    let request = parse(args)?;
    let options = Options { durability: request.durability, ..Options::default() };
    let postgres = Postgres::start(&options)?;
    let redis = request.redis.then(Redis::start).transpose()?;

    let mut command = command(request.command)?;
    command.envs(environment(&postgres));
    if let Some(redis) = &redis {
        command.env("NIGHTDESK_TEST_REDIS_URL", redis.url());
    }
    let status = command.status();
    let status = status.with_context(|| format!("could not run {}", request.command.join(" ")))?;
    Ok(exit_code(status))
}

fn parse<'a>(args: &'a [&'a str]) -> Result<Request<'a>> {
    let Some(end) = args.iter().position(|arg| *arg == "--") else {
        bail!("the command comes after `--`");
    };
    let mut request =
        Request { durability: Durability::NoFsync, redis: false, command: &args[end + 1..] };
    for option in &args[..end] {
        match *option {
            "--fsync" => request.durability = Durability::Fsync,
            "--redis" => request.redis = true,
            other => bail!("no such option: {other}"),
        }
    }
    if request.command.is_empty() {
        bail!("there is no command after `--`");
    }
    Ok(request)
}

/// Creates the command, which ends with this process if the system supports it.
fn command(words: &[&str]) -> Result<Command> {
    let (program, args) = words.split_first().context("there is no command")?;
    let mut command = if cfg!(target_os = "linux") {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "--", program]);
        command
    } else {
        Command::new(program)
    };
    command.args(args);
    Ok(command)
}

/// Returns the environment variables with PostgreSQL's addresses.
fn environment(postgres: &Postgres) -> [(&'static str, String); 5] {
    [
        ("NIGHTDESK_TEST_PG_ADMIN_URL", postgres.admin_url("postgres")),
        ("NIGHTDESK_TEST_PG_BIN", postgres.bin_dir().display().to_string()),
        ("NIGHTDESK_TEST_PG_DATA", postgres.data_dir().display().to_string()),
        ("NIGHTDESK_TEST_PG_PORT", postgres.port().to_string()),
        ("NIGHTDESK_TEST_PG_PID", postgres.pid().to_string()),
    ]
}

/// Returns the command's own status, or failure if a signal ended it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_options_and_leaves_the_command_alone() {
        let durable = Request {
            durability: Durability::Fsync,
            redis: true,
            command: &["a", "--redis", "--", "b"],
        };
        let plain = Request { durability: Durability::NoFsync, redis: false, command: &["a"] };

        let args = ["--fsync", "--redis", "--", "a", "--redis", "--", "b"];
        assert_eq!(parse(&args).expect("is readable"), durable);
        assert_eq!(parse(&["--", "a"]).expect("is readable"), plain);
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        let cases: [(&str, &[&str]); 4] = [
            ("no command", &["--"]),
            ("no mark", &["a"]),
            ("an unknown option", &["--nats", "--", "a"]),
            ("nothing", &[]),
        ];
        for (name, args) in cases {
            assert!(parse(args).is_err(), "{name}");
        }
    }
}

//! Agents that sleep, and the README's commands for one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use nightdesk_sdk::{Agent, AgentEnd, Event, SendError, Settings, Status, wake};
use nightdesk_testdesk::get;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::wire::Street;

const README: &str = include_str!("../../README.md");

/// The minimum.
const QUIET_FOR: Duration = Duration::from_secs(5);

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

/// Returns the commands of the README's section on sleeping, block by block.
fn commands() -> Vec<&'static str> {
    let (_, section) = README.split_once("\n## Sleeping\n").expect("a page on sleeping");
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```text\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

/// Replaces the README's placeholders by the test's values.
fn filled_in(street: &Street, commands: &str) -> String {
    let cargo = "cargo run -p nightdesk-sdk --example sleeper --";
    let secret = street.ann.secret.with(str::to_owned);
    let places = [
        (cargo, format!("exec {}", sleeper().display())),
        ("https://desk.example", format!("http://{}", street.wire.address)),
        ("my-gateway", street.ann.name.clone()),
        ("NIGHTDESK_SECRET=…", format!("NIGHTDESK_SECRET={secret}")),
        ("127.0.0.1:8899", "127.0.0.1:0".to_owned()),
        ("--quiet-secs 60", format!("--quiet-secs {}", QUIET_FOR.as_secs())),
    ];
    let fill = |text: String, (what, with): &(&str, String)| text.replace(what, with);
    places.iter().fold(commands.to_owned(), fill)
}

/// Returns the path of the example, which cargo builds beside the tests.
fn sleeper() -> PathBuf {
    let test = std::env::current_exe().expect("this test is a program");
    let example = test.ancestors().nth(2).expect("a folder").join("examples/sleeper");
    assert!(example.exists(), "build it: cargo build -p nightdesk-sdk --examples");
    example
}

/// A shell and all its child processes. It ends with the test.
struct Shell {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Shell {
    fn running(script: &str) -> Self {
        let mut child = Command::new("sh")
            .args(["-euc", script])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        Self { child, lines }
    }

    async fn line(&mut self) -> String {
        self.lines.next_line().await.expect("text").expect("a line")
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if let Some(group) = self.child.id() {
            let kill = ["-KILL".to_owned(), "--".to_owned(), format!("-{group}")];
            drop(std::process::Command::new("kill").args(kill).status());
        }
    }
}

#[tokio::test]
async fn the_readmes_agent_answers_and_exits_when_it_is_quiet() {
    let mut street = Street::open().await;
    let [given, agent, ..] = commands()[..] else { panic!("commands") };
    let mut shell = Shell::running(&filled_in(&street, &[given, agent].concat()));

    street.says("hello").await;
    assert_eq!(street.answer().await, "hello");
    let ended = shell.child.wait().await.expect("it ends by itself");
    assert_eq!(ended.code(), Some(0));
    assert_eq!(street.oldest_unacked_after("next").await, "next", "it left nothing behind");
}

#[tokio::test]
async fn the_readmes_agent_is_started_again_by_a_call() {
    let mut street = Street::open().await;
    let [given, _, listen, call] = commands()[..] else { panic!("commands") };
    let shown = "echo \"$NIGHTDESK_WAKE_SECRET\"\n";
    let mut shell = Shell::running(&filled_in(&street, &[given, shown, listen].concat()));
    let secret = shell.line().await;
    let listening = shell.line().await;
    let address: SocketAddr =
        listening.trim_start_matches("listening at ").parse().expect("an address");
    street.says("first").await;
    assert_eq!(street.answer().await, "first");

    assert_eq!(shell.line().await, "the agent ended: exit status: 0");
    street.says("while it sleeps").await;
    let path = call.trim().split("127.0.0.1:8899").nth(1).expect("where to call");
    let path = path.replace("$NIGHTDESK_WAKE_SECRET", &secret);
    assert_eq!(get(address, &path, &[]).await.status, 204);
    assert_eq!(street.answer().await, "while it sleeps");
}

#[tokio::test]
async fn a_process_that_stays_up_sleeps_its_line_and_is_woken() {
    let mut street = Street::open().await;
    let secret = "0123456789abcdef";
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let calls = wake::Listener::bind(any, secret).await.expect("a free port");
    let settings = street.settings().sleep_after(QUIET_FOR);
    let agent = Agent::connect(settings.clone(), echo).expect("good settings");

    assert_eq!(agent.ended().await, Ok(AgentEnd::Asleep));
    street.says("while it sleeps").await;
    assert_eq!(get(calls.address(), &format!("/wake/{secret}"), &[]).await.status, 204);
    calls.woken().await;
    let agent = Agent::connect(settings, echo).expect("good settings");
    assert_eq!(street.answer().await, "while it sleeps");
    agent.disconnect().await;
}

#[tokio::test]
async fn who_is_busy_stays_awake() {
    let street = Street::open().await;
    let bob = street.desk.household("bob", "gw-2").await;
    let url = format!("http://{}", street.desk.address());
    let settings = |of: &nightdesk_testdesk::Household| {
        Settings::new(&url, &of.name, of.secret.with(str::to_owned)).sleep_after(QUIET_FOR)
    };
    let busy = Agent::connect(settings(&street.ann), echo).expect("good settings");
    busy.handshake().await.expect("a line");
    let (_work, more) = (busy.desk().busy(), busy.desk().busy());
    drop(more);

    let quiet = Agent::connect(settings(&bob), echo).expect("good settings");
    drop(quiet.desk().busy());
    assert_eq!(quiet.ended().await, Ok(AgentEnd::Asleep), "nobody is busy any more");
    assert_eq!(busy.status(), Status::Live, "it would have slept before the other");
}

//! The README's commands, run as they stand there.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const README: &str = include_str!("../../../README.md");

/// Long enough for a desk to start or stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    let rest = README.split(&opening).skip(1);
    rest.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

/// A folder with the README's configuration, for the test server.
fn folder(port: u16) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, database) = new_database();
    let config = blocks("toml")[0]
        .replace("127.0.0.1:8800", &format!("127.0.0.1:{port}"))
        .replace("127.0.0.1:5432/nightdesk", &format!("{server}/{database}"));
    std::fs::write(folder.path().join("desk.toml"), config).expect("write the configuration");
    folder
}

#[expect(clippy::disallowed_methods, reason = "where the test server is")]
fn new_database() -> (String, String) {
    let url = std::env::var("NIGHTDESK_TEST_PG_ADMIN_URL")
        .expect("run this with `just test`: it starts the server this needs");
    let bin = std::env::var("NIGHTDESK_TEST_PG_BIN").expect("where psql is");
    let database = format!("readme_{}", std::process::id());
    let created = Command::new(Path::new(&bin).join("psql"))
        .args(["-q", "-d", &url, "-c", &format!("create database {database}")])
        .status();
    assert!(created.expect("psql runs").success());
    let server = url.split('@').nth(1).and_then(|rest| rest.split('/').next());
    (server.expect("a server in the URL").to_owned(), database)
}

/// A command of the README, with the binary on the path.
fn shell(folder: &Path, line: &str, variables: &[(&str, &str)]) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_nightdesk"));
    let folder_of_binary = binary.parent().expect("a folder").display();
    let mut command = Command::new("bash");
    command.current_dir(folder).args(["-c", &format!("PATH={folder_of_binary}:$PATH; {line}")]);
    command.envs(variables.iter().copied());
    command
}

fn output(mut command: Command) -> String {
    let output = command.output().expect("bash runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// The value of a `name: value` line.
fn value<'a>(output: &'a str, name: &str) -> &'a str {
    let found = output.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    found.expect("the answer has that line")
}

fn is_healthy(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let asked = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let mut answer = String::new();
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.contains("200 OK")
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the desk also when the test fails.
struct Desk(Child);

impl Drop for Desk {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_desk_is_running_after_the_readmes_commands() {
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
    let port = port.expect("a free port").port();
    let folder = folder(port);
    let [running, entering] = blocks("sh")[..] else { panic!("the README has two blocks") };
    let mut desk = None;
    for line in running.lines() {
        if line == "nightdesk serve" {
            let mut serve = shell(folder.path(), &format!("exec {line}"), &[]);
            desk = Some(Desk(serve.stderr(Stdio::null()).spawn().expect("bash runs")));
        } else {
            output(shell(folder.path(), line, &[]));
        }
    }
    let mut desk = desk.expect("the README serves");
    wait_until("the desk answers", || is_healthy(port));

    let mut variables: Vec<(&str, String)> = Vec::new();
    for line in entering.lines() {
        let set: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = output(shell(folder.path(), line, &set));
        for (name, variable) in [("tenant_id", "TENANT"), ("agent_id", "AGENT")] {
            if line.contains(&format!("{} create", name.trim_end_matches("_id"))) {
                variables.push((variable, value(&answer, name).to_owned()));
            }
        }
        if line.starts_with("nightdesk gateway") {
            assert_eq!(value(&answer, "secret").len(), 64);
        }
    }

    let pid = desk.0.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().expect("kill runs").success());
    wait_until("the desk stops", || desk.0.try_wait().expect("its state").is_some());
    assert!(desk.0.wait().expect("its end").success(), "told to stop, it stops cleanly");
}

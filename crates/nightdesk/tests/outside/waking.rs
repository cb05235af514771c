//! An agent sleeps, an entry arrives, the wake target starts the agent, and the agent takes the entry.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nightdesk_sdk::{Agent, Settings};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::desk::{Desk, value, wait_until};
use crate::docs::{Variables, blocks, entered_on};
use crate::webchat::{opened, written};

const PAGE: &str = include_str!("../../../../docs/waking.md");

/// Starts a wake target: it answers with this status, and reports its requests.
pub(crate) fn target(status: &'static str) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    let (put, came) = channel();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            if answered(&stream, status).is_none_or(|head| put.send(head).is_err()) {
                break;
            }
        }
    });
    (port, came)
}

/// Reads a request's head and answers it.
fn answered(mut stream: &TcpStream, status: &str) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).ok()? > 0 {}
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).ok()?;
    Some(head)
}

/// Starts a desk with a page, whose operator lets agents be called on this machine.
pub(crate) fn asleep(port: u16, more: &str) -> (Desk, Variables, String) {
    let outside =
        format!("[outside]\nhttp = true\nranges = [\"127.0.0.0/8\"]\nports = [{port}]\n{more}");
    let (desk, mut entered) = entered_on(&outside);
    let path = opened(&desk, &mut entered);
    (desk, entered, path)
}

pub(crate) fn wake_url(port: u16) -> String {
    format!("nightdesk agent wake-url --tenant acme --agent helper http://127.0.0.1:{port}/wake")
}

const STATUS: &str = "nightdesk wake status --tenant acme --agent helper";

/// Dials in as the agent, and reports the entries that it takes.
fn dialled(desk: &Desk, entered: &Variables) -> (Agent, mpsc::Receiver<()>) {
    let (took, taken) = mpsc::channel(8);
    let url = format!("http://127.0.0.1:{}", desk.port);
    let settings = Settings::new(url, "gw-helper", entered.get("SECRET"));
    let agent = Agent::connect(settings, move |_| {
        let took = took.clone();
        async move { took.send(()).await }
    });
    (agent.expect("good settings"), taken)
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_message_wakes_its_agent_which_takes_it() {
    let (port, called) = target("200 OK");
    let (mut desk, entered, path) = asleep(port, "");
    let shown = desk.run(&wake_url(port), &[]);
    assert!(shown.contains("/wake"), "{shown}");
    let runtime = Runtime::new().expect("a runtime");
    let _inside = runtime.enter();

    let sent = written(&desk, &path, "hello");
    assert!(sent.contains("200 OK"), "{sent}");
    let head = called.recv_timeout(PATIENCE).expect("it is called");
    assert!(head.starts_with("GET /wake HTTP/1.1\r\n"), "{head}");
    let lower = head.to_lowercase();
    assert!(!lower.contains("content-length") && !lower.contains("authorization"), "{head}");
    let (agent, mut taken) = dialled(&desk, &entered);
    runtime.block_on(agent.handshake()).expect("a line");
    runtime.block_on(taken.recv()).expect("the agent took it");
    wait_until("it is woken", || desk.run(STATUS, &[]).contains("wake: woken"));
    runtime.block_on(agent.go_idle());
    desk.stop();
}

#[test]
fn whoever_answers_badly_is_called_again_on_schedule_and_a_bad_url_is_refused() {
    let (port, called) = target("500 Internal Server Error");
    let (mut desk, _entered, path) = asleep(port, "");
    let refused =
        desk.fails("nightdesk agent wake-url --tenant acme --agent helper http://10.0.0.1/");
    assert!(refused.contains("ask the operator to allow it"), "{refused}");
    desk.run(&wake_url(port), &[]);
    assert!(written(&desk, &path, "hello").contains("200 OK"));

    called.recv_timeout(PATIENCE).expect("it is called");
    wait_until("its status is noted", || {
        desk.run(STATUS, &[]).contains("outcome: answered with status 500")
    });
    let status = desk.run(STATUS, &[]);
    assert_eq!(value(&status, "wake"), "due", "{status}");
    assert_eq!(value(&status, "calls"), "1", "{status}");
    let early = desk.fails("nightdesk wake call --tenant acme --agent helper");
    assert!(early.contains("within the last 15 seconds"), "{early}");
    called.recv_timeout(PATIENCE).expect("it is called again, not before its gap is over");
    desk.stop();
}

#[test]
fn a_call_that_is_under_way_elsewhere_is_reported() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    let (mut desk, _entered, _path) = asleep(port, "");
    desk.run(&wake_url(port), &[]);
    let call = || desk.run("nightdesk wake call --tenant acme --agent helper", &[]);
    thread::scope(|scope| {
        let first = scope.spawn(call);
        let (stream, _) = listener.accept().expect("the call");
        let second = scope.spawn(call);
        wait_until("the second command asked for a call", || {
            desk.sql("select asked from wakes").contains('t')
        });
        answered(&stream, "200 OK").expect("the caller waits");
        for command in [first, second] {
            let reported = command.join().expect("it ends well");
            assert!(reported.contains("200"), "{reported}");
        }
    });
    desk.stop();
}

#[test]
fn the_proof_shows_each_step_or_what_to_mend() {
    let (port, called) = target("200 OK");
    let (mut desk, mut entered, _path) = asleep(port, "");
    let verify = "nightdesk verify --tenant acme --wake helper";
    let nobody = desk.fails(verify);
    assert!(nobody.contains("nightdesk agent wake-url"), "{nobody}");
    desk.run(&wake_url(port), &[]);
    let asleep = desk.fails(&format!("{verify} --within 1s"));
    assert!(asleep.contains("called: ") && asleep.contains("no gateway"), "{asleep}");
    called.try_iter().for_each(drop);

    let runtime = Runtime::new().expect("a runtime");
    let url = format!("http://127.0.0.1:{}", desk.port);
    let settings = Settings::new(url, "gw-helper", entered.get("SECRET"));
    let woken = thread::spawn(move || {
        called.recv_timeout(PATIENCE).expect("it is called");
        let _inside = runtime.enter();
        let agent = Agent::connect(settings, |_| async { Ok::<(), std::fmt::Error>(()) });
        (agent.expect("good settings"), runtime)
    });
    let proof = entered.run(&desk, &format!("{verify} 2>&1"));
    let (agent, runtime) = woken.join().expect("the agent woke");
    for step in ["asleep", "stored", "called", "dialled in", "acknowledged"] {
        assert!(proof.contains(&format!(" ms  {step}: ")), "{step}: {proof}");
    }
    assert!(proof.ends_with("the agent wakes up\n"), "{proof}");
    let up = desk.fails(verify);
    assert!(up.contains("the agent is awake"), "{up}");
    runtime.block_on(agent.go_idle());
    desk.stop();
}

#[test]
fn the_operators_command_wakes_who_has_no_url() {
    let script =
        "#!/bin/sh\necho \"$1 $2\" > woken.tmp && mv woken.tmp \"$(dirname \"$0\")/woken\"\n";
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("wake");
    std::fs::write(&program, script).expect("write a program");
    make_runnable(&program);
    let command =
        format!("[wake]\ncommand = [\"{}\", \"{{tenant}}\", \"{{agent}}\"]\n", program.display());
    let (mut desk, mut entered) = entered_on(&command);
    let path = opened(&desk, &mut entered);
    assert!(written(&desk, &path, "hello").contains("200 OK"));

    let woken = folder.path().join("woken");
    wait_until("the command was run", || woken.exists());
    let ids = std::fs::read_to_string(woken).expect("what it was given");
    assert_eq!(ids.trim(), format!("{} {}", entered.get("TENANT"), entered.get("AGENT")));
    wait_until("its end is noted", || desk.run(STATUS, &[]).contains("the command succeeded"));
    desk.stop();
}

fn make_runnable(program: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(program, mode).expect("make it runnable");
}

#[test]
fn the_pages_commands_run_as_they_stand_there() {
    let (port, _called) = target("200 OK");
    let (mut desk, mut entered, _path) = asleep(port, "");
    for line in blocks(PAGE, "sh").iter().flat_map(|block| block.lines()) {
        let line = line.replace("https://agents.example", &format!("http://127.0.0.1:{port}"));
        if line.contains("verify") {
            desk.fails(&format!("{line} --within 1s"));
        } else {
            entered.run(&desk, &line);
        }
    }
    desk.stop();
}

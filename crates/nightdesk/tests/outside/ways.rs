//! Letters that go by other ways than the inbox, as configured.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nightdesk_sdk::peers::{Letter, Login, PeerError, Peers};
use nightdesk_types::{Clock, SystemClock};
use serde_json::Value;

use crate::desk::{Desk, free_port, get, value, wait_until};
use crate::docs::{blocks, entered_on};

const PAGE: &str = include_str!("../../../../docs/letters.md");
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a desk with these ways and their agents, and returns the letters client of `helper`.
fn going(ways: &str, agents: &[&str], secrets: &[(&str, &str)]) -> (Desk, Peers) {
    let (mut desk, entered) = entered_on("");
    for agent in agents {
        desk.run(&format!("nightdesk agent create --tenant acme {agent}"), &[]);
    }
    for (file, secret) in secrets {
        desk.run(&format!("echo {secret} > {file} && chmod 400 {file}"), &[]);
    }
    desk.stop();
    let file = desk.folder().join("desk.toml");
    let config = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, [config.as_str(), "\n", ways].concat()).expect("write it");
    desk.serve();
    let login = Login::gateway("gw-helper", entered.get("SECRET"));
    let peers = Peers::new(format!("http://127.0.0.1:{}", desk.port), login);
    (desk, peers.expect("good settings"))
}

fn way(agent: &str, how: &str) -> String {
    format!("[[ways]]\ntenant = \"acme\"\nagent = \"{agent}\"\n{how}\n\n")
}

/// Returns the content of a file that a letter was dropped as.
fn dropped(desk: &Desk, name: &str) -> Value {
    let file = desk.folder().join("letters/owl").join(format!("{name}.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap_or_default()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_dropped_as_files_now_later_and_from_a_shell() {
    let metrics = free_port();
    let drop = way("owl", "file_drop = { folder = \"letters\" }");
    let drop = format!("[metrics]\naddress = \"127.0.0.1:{metrics}\"\n{drop}");
    let (mut desk, helper) = going(&drop, &["owl"], &[]);
    let refused = desk.fails("nightdesk config check");
    assert!(refused.contains("agent owl of acme"), "{refused}");
    desk.run("mkdir -p letters/owl && nightdesk config check", &[]);

    let letter = Letter::new("owl", "hello").dispatch_id("d1");
    let sent = helper.notify(&letter).await.expect("it is sent");
    let again = helper.notify(&letter).await.expect("it is sent");
    assert_eq!((sent.dispatched[0].connector.as_str(), sent.dispatched[0].ok), ("file-drop", true));
    assert_eq!(again.dispatched, sent.dispatched, "the same letter has the same receipt");
    let file = dropped(&desk, "d1");
    assert_eq!((&file["content"], &file["agent_id"]), (&"hello".into(), &"owl".into()));
    assert_eq!(file["meta"]["sender"], "helper");
    assert_eq!(file["meta"]["origin"]["caller_agent_id"], "helper");
    let woken = helper.wake(&Letter::new("owl@kitchen", "look").dispatch_id("d2")).await;
    let woken = woken.expect("it is sent").dispatched[0].woken.clone().expect("a receipt");
    assert!(!woken.woken, "nobody is interrupted by a file");
    assert_eq!(dropped(&desk, "d2")["context"], "look");

    let soon = SystemClock::start().now() + Duration::from_secs(1);
    helper
        .wake(&Letter::new("owl", "later").dispatch_id("d3").when(soon))
        .await
        .expect("it is kept");
    wait_until("it is dropped when it is due", || dropped(&desk, "d3")["context"] == "later");
    let line = "nightdesk letter send --tenant acme --agent helper owl shell --dispatch-id d4";
    let sent = desk.run(line, &[]);
    wait_until("it is dropped", || dropped(&desk, "d4")["content"] == "shell");
    let show =
        format!("nightdesk letter show --tenant acme --agent helper {}", value(&sent, "letter_id"));
    wait_until("it is known", || value(&desk.run(&show, &[]), "state") == "put");
    let inbox = desk.run("nightdesk inbox list --tenant acme --agent owl", &[]);
    assert_eq!(value(&inbox, "head"), "0", "nothing lies there: {inbox}");
    let none = helper.exchange(&Letter::new("owl", "well?"), PATIENCE).await;
    assert!(matches!(none, Err(PeerError::Refused { status: 501, .. })), "{none:?}");
    let numbers = get(metrics, "/metrics");
    for line in [
        "letters_delivered_total{way=\"file-drop\",route=\"deliver\"} 3",
        "letters_refused_total{way=\"file-drop\",cause=\"not-implemented\"} 1",
        "exchanges_total{way=\"file-drop\",outcome=\"refused\"} 1",
        "letters_taken_total{way=\"tmux\"} 0",
    ] {
        assert!(numbers.contains(&format!("nightdesk_{line}")), "{line}\n{numbers}");
    }
    desk.stop();
}

/// Starts a webhook target: it answers with these statuses, repeating the last, and reports its requests.
fn posted_to(statuses: &'static [&'static str]) -> (u16, Receiver<(String, Value)>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("a bound port").port();
    let (put, came) = channel();
    thread::spawn(move || {
        let last = statuses.last().expect("an answer");
        let mut statuses = statuses.iter().chain(std::iter::repeat(last));
        while let (Ok((stream, _)), Some(status)) = (listener.accept(), statuses.next()) {
            if answered(&stream, status).is_none_or(|said| put.send(said).is_err()) {
                break;
            }
        }
    });
    (port, came)
}

fn answered(mut stream: &TcpStream, status: &str) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).ok()? > 0 {}
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).ok()?;
    Some((head, serde_json::from_slice(&body).ok()?))
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_posted_with_proofs_and_what_fails_is_tried_again_only_when_nobody_waits() {
    let (port, came) = posted_to(&["503 Busy", "200 OK", "503 Busy", "200 OK"]);
    let outside = format!(
        "[outside]\nhttp = true\nranges = [\"127.0.0.0/8\"]\nports = [{port}]\n\
         [outside.rates.\"127.0.0.1\"]\nper_second = 100\nat_once = 16\n"
    );
    let hook = format!(
        "webhook = {{ url = \"http://127.0.0.1:{port}/letters\", bearer_file = \"owl.bearer\", \
         secret_file = \"owl.secret\" }}"
    );
    let ways = [outside, way("owl", &hook)].concat();
    let secrets = [("owl.bearer", "canary-b"), ("owl.secret", "canary-s")];
    let (mut desk, helper) = going(&ways, &["owl"], &secrets);
    desk.run("nightdesk config check", &[]);

    let letter = Letter::new("owl", "hello").dispatch_id("d1");
    let failed = helper.deliver(&letter).await.expect_err("it is busy");
    assert!(failed.passes(), "{failed}");
    let sent = helper.deliver(&letter).await.expect("the same again");
    assert_eq!(sent.dispatched[0].connector, "webhook");
    helper.deliver(&letter).await.expect("it is known, and not posted");
    for _ in 0..2 {
        let (head, body) = came.recv_timeout(PATIENCE).expect("it was posted");
        assert!(head.contains("authorization: bearer canary-b"), "{head}");
        assert!(head.contains("x-signature: sha256="), "{head}");
        assert_eq!(
            (&body["content"], &body["meta"]["dispatch_id"]),
            (&"hello".into(), &"d1".into())
        );
    }
    let line = "nightdesk letter send --tenant acme --agent helper owl shell --dispatch-id d2";
    desk.run(line, &[]);
    for _ in 0..2 {
        let (_, body) = came.recv_timeout(PATIENCE).expect("the schedule tries again");
        assert_eq!(body["meta"]["dispatch_id"], "d2");
    }
    assert!(!desk.log().contains("canary"), "no secret is logged");
    desk.stop();
}

/// A tmux server that ends with the test.
struct Terminals(String);

impl Terminals {
    fn open(session: &str) -> Self {
        let server = format!("ways-{}", std::process::id());
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &server, "-f", "/dev/null", "new-session", "-d", "-s", session, "cat"]);
        assert!(tmux.status().expect("tmux runs").success());
        Self(server)
    }

    fn shows(&self, session: &str) -> String {
        let target = format!("={session}:");
        let shown =
            Command::new("tmux").args(["-L", &self.0, "capture-pane", "-pJt", &target]).output();
        String::from_utf8_lossy(&shown.expect("tmux runs").stdout).into_owned()
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        drop(Command::new("tmux").args(["-L", &self.0, "kill-server"]).status());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_typed_into_the_one_terminal_that_the_operator_named() {
    let terminals = Terminals::open("wren");
    let tmux = format!("tmux = {{ session = \"wren\", server = \"{}\" }}", terminals.0);
    let (mut desk, helper) = going(&way("wren", &tmux), &["wren"], &[]);
    desk.run("nightdesk config check", &[]);

    let sent = helper.wake(&Letter::new("wren@elsewhere", "chirp").dispatch_id("d1")).await;
    let way = &sent.expect("it is sent").dispatched[0];
    assert_eq!(
        (way.connector.as_str(), way.woken.as_ref().map(|it| it.woken)),
        ("tmux", Some(true))
    );
    wait_until("it is typed", || terminals.shows("wren").contains("from helper] chirp"));
    drop(terminals);
    let broken = helper.deliver(&Letter::new("wren", "chirp")).await.expect_err("it is gone");
    assert!(broken.passes(), "{broken}");
    desk.stop();
}

#[test]
fn the_page_shows_ways_that_can_be_and_a_way_to_nobody_is_said() {
    let [ways] = blocks(PAGE, "toml")[..] else { panic!("one block of configuration") };
    let [_, _, checking, _] = blocks(PAGE, "sh")[..] else { panic!("four blocks of commands") };
    let secrets = [("owl.bearer", "b"), ("owl.secret", "s")];
    let (mut desk, _) = going(ways, &["owl", "heron"], &secrets);
    assert!(desk.log().contains("letters to agent wren of acme go through its inbox"));
    desk.run("nightdesk agent create --tenant acme wren", &[]);
    let said = desk.fails("nightdesk config check");
    assert!(said.contains("FAILED  the configured ways of letters work"), "{said}");
    let terminals = Terminals::open("wren");
    for line in checking.lines() {
        // On a separate server, so that other terminals are not touched.
        let server = format!("server = \"{}\"", terminals.0);
        let line = match line {
            line if line.starts_with("tmux ") => {
                format!("sed -i 's/session = \"wren\"/&, {server}/' desk.toml")
            }
            line => line.to_owned(),
        };
        desk.run(&line, &[]);
    }
    desk.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notify_goes_every_way_of_its_agent_under_one_id() {
    let drop = way("owl", "file_drop = { folder = \"letters\" }");
    let (mut desk, helper) = going(&[drop, way("owl", "inbox = true")].concat(), &["owl"], &[]);
    desk.run("mkdir -p letters/owl && nightdesk config check", &[]);
    let head = |desk: &Desk| {
        value(&desk.run("nightdesk inbox list --tenant acme --agent owl", &[]), "head").to_owned()
    };
    let connectors = |sent: &nightdesk_sdk::peers::LetterSendResponse| {
        let names = sent.dispatched.iter().map(|way| (way.connector.clone(), way.ok));
        names.collect::<Vec<_>>()
    };
    let all = [("road".to_owned(), true), ("file-drop".to_owned(), true)];

    let letter = Letter::new("owl", "hello").dispatch_id("d1");
    let sent = helper.notify(&letter).await.expect("it is sent");
    assert_eq!(connectors(&sent), all);
    assert_eq!(dropped(&desk, "d1")["meta"]["dispatch_id"], "d1");
    assert_eq!(head(&desk), "1");
    let again = helper.notify(&letter).await.expect("it is sent");
    assert_eq!((connectors(&again), head(&desk)), (all.to_vec(), "1".to_owned()), "once each way");

    let one = Letter::new("owl", "file").dispatch_id("d2").connectors(["file-drop"]);
    assert_eq!(connectors(&helper.notify(&one).await.expect("it is sent")), all[1..]);
    assert_eq!((&dropped(&desk, "d2")["content"], head(&desk)), (&"file".into(), "1".to_owned()));
    let other = Letter::new("owl", "file").dispatch_id("d2").connectors(["road"]);
    let refused = helper.notify(&other).await.expect("it has a result");
    assert_eq!(refused.dispatched[0].cause.as_deref(), Some("client_validation"));
    assert_eq!(head(&desk), "1", "a letter that is not there is not said to be");
    let none = Letter::new("owl", "file").connectors(["pigeon"]);
    assert_eq!(connectors(&helper.notify(&none).await.expect("it has a result")), []);
    let delivered = helper.deliver(&Letter::new("owl", "one way")).await.expect("it is sent");
    assert_eq!((connectors(&delivered), head(&desk)), (all[..1].to_vec(), "2".to_owned()));
    desk.stop();
}

//! `nightdesk dev`: a trial desk.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nightdesk_sdk::{Agent, Event, Settings};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::desk::{ask, free_port, get, wait_until};
use crate::posting;

/// A trial desk that also ends if the test fails.
struct Dev {
    child: Child,
    port: u16,
    temporary: tempfile::TempDir,
}

impl Dev {
    fn start(options: &[&str]) -> Self {
        let (port, temporary) = (free_port(), tempfile::tempdir().expect("a folder"));
        // PostgreSQL runs as another user when the test runs as root.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(temporary.path(), open).expect("open the folder");
        let child = Command::new(env!("CARGO_BIN_EXE_nightdesk"))
            .args(["dev", "--listen", &format!("127.0.0.1:{port}")])
            .args(options)
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Self { child: child.expect("the binary runs"), port, temporary }
    }

    fn first_line(&mut self) -> String {
        let mut line = String::new();
        let printed = self.child.stdout.as_mut().expect("its output");
        BufReader::new(printed.by_ref()).read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Returns the settings that it prints with `--json`, and a visitor of the chat.
    fn opened(&mut self) -> (Value, Visitor) {
        let settings: Value = serde_json::from_str(&self.first_line()).expect("JSON");
        let chat = settings["chat"].as_str().expect("the chat's address");
        let visitor = self.visitor(chat);
        (settings, visitor)
    }

    fn visitor(&self, chat: &str) -> Visitor {
        let own = chat.strip_prefix(&format!("http://127.0.0.1:{}", self.port));
        let chat = own.expect("an address of the desk").to_owned();
        let page = get(self.port, &chat);
        let cookie = page.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.and_then(|set| set.split(';').next()).expect("a session");
        Visitor { port: self.port, chat, cookie: format!("cookie: {cookie}\r\n") }
    }

    /// Redeems a login link. Returns the end of the head of a request with the user's token.
    fn log_in(&self, link: &str) -> String {
        let (_, code) = link.split_once("/login?code=").expect("a login link");
        let body = format!(r#"{{"code":"{code}"}}"#);
        let kind = "content-type: application/json";
        let rest = format!("{kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let answer = ask(self.port, "POST", "/v1/login/link", &rest);
        let token = answer.split(r#""token":""#).nth(1).and_then(|rest| rest.split('"').next());
        format!("authorization: Bearer {}\r\n\r\n", token.expect("a token"))
    }

    /// Ends it as Ctrl-C does. Nothing may be left behind.
    fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
        assert!(self.child.wait().expect("its end").success());
        assert_eq!(self.left(), 0, "nothing is left behind");
    }

    fn left(&self) -> usize {
        left_in(self.temporary.path())
    }
}

fn left_in(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("its folder").count()
}

impl Drop for Dev {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A person with the page open.
struct Visitor {
    port: u16,
    chat: String,
    cookie: String,
}

impl Visitor {
    fn writes(&self, text: &str) {
        let body = format!(r#"{{"nonce":"{text}","text":"{text}"}}"#);
        let kind = "content-type: application/json";
        let length = body.len();
        let rest = format!("{}{kind}\r\ncontent-length: {length}\r\n\r\n{body}", self.cookie);
        let sent = ask(self.port, "POST", &format!("{}/messages", self.chat), &rest);
        assert!(sent.contains(r#""result":"sent""#), "{sent}");
    }

    fn page(&self) -> String {
        ask(self.port, "GET", &self.chat, &format!("{}\r\n", self.cookie))
    }
}

#[test]
fn a_message_is_answered_and_nothing_is_left_behind() {
    let mut dev = Dev::start(&[]);
    let line = dev.first_line();
    assert!(dev.left() > 0, "its PostgreSQL is in there");
    let visitor = dev.visitor(line.strip_prefix("chat: ").expect("the chat's address"));
    visitor.writes("knock");

    wait_until("the echo answers", || visitor.page().matches("knock").count() == 2);
    dev.stop();
}

/// Connects an agent of the person who tries the desk out.
fn connects(settings: &Value) -> Agent {
    let text = |name: &str| settings[name].as_str().expect("a setting").to_owned();
    let settings = Settings::new(text("url"), text("gateway"), text("secret"));
    let answer = |event: Event| async move {
        let Event::Message(message) = event else { return Ok(()) };
        message.reply(format!("yours: {}", message.text())).await.map(drop)
    };
    Agent::connect(settings, answer).expect("good settings")
}

#[test]
fn the_echo_leaves_when_another_agent_connects() {
    let mut dev = Dev::start(&["--json"]);
    let (settings, visitor) = dev.opened();
    let runtime = Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let agent = connects(&settings);
    runtime.block_on(agent.handshake()).expect("a line");
    visitor.writes("quokka");
    wait_until("it answers", || visitor.page().contains("yours: quokka"));

    runtime.block_on(agent.go_idle());
    visitor.writes("wombat");
    let agent = connects(&settings);
    wait_until("the message waited for it", || visitor.page().contains("yours: wombat"));
    for text in ["quokka", "wombat"] {
        let page = visitor.page();
        assert_eq!(
            page.matches(&format!("{text}</p>")).count(),
            2,
            "the echo answered too: {page}"
        );
    }
    runtime.block_on(agent.go_idle());
    dev.stop();
}

#[test]
fn the_messages_are_posted_to_an_agent_in_place_of_the_echo() {
    let (port, posts) = posting::agent();
    let url = format!("http://127.0.0.1:{port}/entries");
    let mut dev = Dev::start(&["--json", "--webhook", &url]);
    let (settings, visitor) = dev.opened();
    assert!(settings["webhook_secret"].as_str().is_some_and(|text| text.starts_with("whsec_")));
    visitor.writes("hello");

    let posted = posts.recv_timeout(Duration::from_secs(30)).expect("it is posted");
    assert_eq!(posted.frame["event"]["text"], "hello");
    wait_until("it answers", || visitor.page().contains("you said hello"));
    dev.stop();
}

#[test]
fn the_second_agent_sleeps_until_a_message_wakes_it() {
    let mut dev = Dev::start(&["--json"]);
    let (settings, _) = dev.opened();
    let text = |name: &str| settings[name].as_str().expect("an address").to_owned();
    let (visitor, user) = (dev.visitor(&text("sleeper")), dev.log_in(&text("dashboard")));
    visitor.writes("knock");
    wait_until("it answers at once", || visitor.page().contains("of quiet: knock"));

    let status = || ask(dev.port, "GET", "/v1/tenants/dev/agents/sleeper/wake", &user);
    assert!(!status().contains(r#""line":"none""#), "it has a line: {}", status());
    wait_until("it falls asleep", || status().contains(r#""line":"none""#));
    visitor.writes("again");
    wait_until("it is woken and answers", || visitor.page().contains("woke me: again"));
    dev.stop();
}

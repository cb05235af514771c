//! Writes messages of further kinds while keys are replaced. Their texts are then searched for.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nightdesk_types::SystemClock;
use serde_json::json;

use super::World;
use super::canary::TEXT;

/// Time within which a binding reaches the gate.
const PATIENCE: Duration = Duration::from_secs(10);

/// The agent that writes, for which no other part of the proof acts.
const WRITER: usize = 8;

/// A response of the desk.
struct PageResponse {
    status: u16,
    head: String,
}

/// A request to the desk.
struct PageRequest<'a> {
    method: &'a str,
    path: String,
    headers: Vec<(&'a str, String)>,
    body: String,
}

/// Writes a letter, describes a file and writes to a chat page, each with the text that must not be found.
pub fn write(world: &World) -> Result<()> {
    letter(world)?;
    file(world)?;
    chat(world)
}

fn letter(world: &World) -> Result<()> {
    let sister = WRITER + world.cast.members.len() / 2;
    let [from, to] = [WRITER, sister].map(|number| &world.cast.members[number]);
    ensure!(from.tenant == to.tenant, "two agents of one tenant are needed");
    let (tenant, agent, to) =
        (from.tenant.to_string(), from.agent.to_string(), to.agent.to_string());
    let send = ["letter", "send", "--tenant", &tenant, "--agent", &agent, &to, TEXT, "--json"];
    world.operator.run(&send).map(drop)
}

fn file(world: &World) -> Result<()> {
    let token = world.cast.members[WRITER].token(&SystemClock::start());
    let headers = vec![
        ("authorization", format!("Bearer {}", token.expose())),
        ("content-type", "text/plain".to_owned()),
        ("x-media-filename", TEXT.to_owned()),
    ];
    let (path, body) = ("/relay/media".to_owned(), "a file".to_owned());
    let heard = ask(world.desk.address(), &PageRequest { method: "POST", path, headers, body })?;
    ensure!(heard.status == 200, "a file was answered {}", heard.status);
    Ok(())
}

/// Creates a page, and writes to its agent as a visitor who is bound to it.
fn chat(world: &World) -> Result<()> {
    let operator = world.cast.operator.to_string();
    let create = ["bot", "create", "--tenant", &operator, "--platform", "webchat"];
    let made = world.operator.run(&[&create[..], &["--handle", "page", "--json"]].concat())?;
    let bot = made["bot_id"].as_str().context("a bot has an id")?;
    let page = format!("/chat/{}", made["path"].as_str().context("a page has a path")?);
    let open =
        PageRequest { method: "GET", path: page.clone(), headers: Vec::new(), body: String::new() };
    let opened = ask(world.desk.address(), &open)?;
    let cookie = opened.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).context("no cookie came")?;
    let visitor = cookie.split(['=', '.']).nth(1).context("a cookie names its visitor")?;
    let member = &world.cast.members[WRITER];
    let (tenant, agent) = (member.tenant.to_string(), member.agent.to_string());
    let bind = ["binding", "create", "--tenant", &tenant, "--agent", &agent, "--bot", bot];
    world.operator.run(&[&bind[..], &["--author", visitor, "--json"]].concat())?;
    let said = PageRequest {
        method: "POST",
        path: format!("{page}/messages"),
        headers: vec![
            ("cookie", cookie.to_owned()),
            ("content-type", "application/json".to_owned()),
            ("sec-fetch-site", "same-origin".to_owned()),
        ],
        body: json!({ "nonce": "n1", "text": TEXT }).to_string(),
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        match ask(world.desk.address(), &said)?.status {
            200 => return Ok(()),
            403 if Instant::now() < deadline => thread::sleep(Duration::from_millis(200)),
            status => bail!("a visitor was answered {status}"),
        }
    }
}

fn ask(desk: SocketAddr, request: &PageRequest<'_>) -> Result<PageResponse> {
    let PageRequest { method, path, headers, body } = request;
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n");
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n")?;
    }
    write!(text, "content-length: {}\r\n\r\n{body}", body.len())?;
    let mut stream = TcpStream::connect(desk).context("the desk does not listen")?;
    stream.set_read_timeout(Some(PATIENCE)).context("could not wait for an answer")?;
    stream.write_all(text.as_bytes()).context("could not ask the desk")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("could not read an answer")?;
    let head = String::from_utf8_lossy(&answer).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(PageResponse { status: status.context("an answer has no status")?, head })
}

//! A scripted HTTP server that records its requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) what: String,
    /// The headers, in lower case.
    pub(crate) headers: String,
    pub(crate) body: Value,
}

/// A scripted response.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Say(u16, &'static str, Value),
    /// The connection is closed without a response.
    HangUp,
}

/// The server. Without a script it responds with 200 and `{}`.
pub(crate) struct Stub {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    _tasks: JoinSet<()>,
}

impl Stub {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let answers: Arc<Mutex<VecDeque<Answer>>> = Arc::default();
        let mut tasks = JoinSet::new();
        let shared = (Arc::clone(&asked), Arc::clone(&answers));
        tasks.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (asked, answers) = (Arc::clone(&shared.0), Arc::clone(&shared.1));
                lines.spawn(async move { while_open(stream, &asked, &answers).await });
            }
        });
        Self { url, asked, answers, _tasks: tasks }
    }

    pub(crate) fn answer(&self, status: u16, body: Value) {
        self.answer_with(status, "", body);
    }

    /// Adds a response with extra headers to the script.
    pub(crate) fn answer_with(&self, status: u16, headers: &'static str, body: Value) {
        self.answers.lock().unwrap().push_back(Answer::Say(status, headers, body));
    }

    pub(crate) fn hang_up(&self) {
        self.answers.lock().unwrap().push_back(Answer::HangUp);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Asked {
        self.asked().pop().expect("something was asked")
    }
}

async fn while_open(
    stream: TcpStream,
    asked: &Mutex<Vec<Asked>>,
    answers: &Mutex<VecDeque<Answer>>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(one) = read(&mut stream).await {
        asked.lock().unwrap().push(one);
        let answer = answers.lock().unwrap().pop_front();
        let (status, headers, body) = match answer {
            Some(Answer::Say(status, headers, body)) => (status, headers, body.to_string()),
            Some(Answer::HangUp) => return,
            None => (200, "", json!({ "id": "1" }).to_string()),
        };
        let head =
            format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        if stream.get_mut().write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let (mut first, mut headers) = (String::new(), String::new());
    stream.read_line(&mut first).await.ok().filter(|read| *read > 0)?;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        if line == "\r\n" {
            break;
        }
        headers += &line.to_lowercase();
    }
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    let what = first.rsplit_once(' ')?.0.to_owned();
    Some(Asked { what, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

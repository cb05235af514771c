//! The door for posts: the desk posts entries to it, and it passes them on to the program of the scenario.
//!
//! The desk repeats a post after a minute. The door repeats it at once, as the desk would: under the same id.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use nightdesk_types::{Clock, SystemClock};
use serde_json::Value;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::facts::{SignalFate, TrialFact, TrialNotebook};
use super::fault::{FaultAction, FaultPlan, FaultRule, SignalKind};
use super::limits::{POST_AGAIN_PAUSE, POST_AGAIN_WAIT, POST_CUT_AFTER};
use super::wire::call::reports_stop;
use super::wire::http::PlainHttp;

const ACK_LATER: u16 = 202;

/// The door for posts of all scenarios. It closes when it is dropped.
#[derive(Debug)]
pub(super) struct PostDoor {
    address: SocketAddr,
    target: Arc<Mutex<Option<Arc<PostTarget>>>>,
    _closing: DropGuard,
}

/// The program of a scenario.
#[derive(Debug)]
struct PostTarget {
    /// The name of the scenario's agent, which is the path of its webhook.
    agent: String,
    program: SocketAddr,
    notebook: Arc<TrialNotebook>,
    plan: Mutex<FaultPlan>,
}

impl PostDoor {
    pub(super) async fn open(tasks: &TaskTracker) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let target: Arc<Mutex<Option<Arc<PostTarget>>>> = Arc::default();
        let closing = CancellationToken::new();
        let serving = serve(listener, Arc::clone(&target), tasks.clone(), closing.clone());
        let closed = closing.clone();
        tasks.spawn(async move { closed.run_until_cancelled(serving).await });
        Ok(Self { address, target, _closing: closing.drop_guard() })
    }

    pub(super) const fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of an agent's webhook.
    pub(super) fn url(&self, agent: &str) -> String {
        format!("http://{}/{agent}", self.address)
    }

    /// Passes the posts to an agent on to its program.
    pub(super) fn set_target(
        &self,
        agent: &str,
        program: SocketAddr,
        notebook: &Arc<TrialNotebook>,
        rules: &[FaultRule],
    ) {
        let plan = Mutex::new(FaultPlan::new(rules));
        let (agent, notebook) = (agent.to_owned(), Arc::clone(notebook));
        let target = PostTarget { agent, program, notebook, plan };
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(target));
    }
}

async fn serve(
    listener: TcpListener,
    target: Arc<Mutex<Option<Arc<PostTarget>>>>,
    tasks: TaskTracker,
    closing: CancellationToken,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (target, closing) = (Arc::clone(&target), closing.clone());
        tasks.spawn(async move {
            // A connection that breaks is a try, which the desk repeats.
            closing.run_until_cancelled(serve_connection(stream, &target)).await
        });
    }
}

async fn serve_connection(
    stream: TcpStream,
    target: &Mutex<Option<Arc<PostTarget>>>,
) -> io::Result<()> {
    let mut desk = BufReader::new(stream);
    while let Some(post) = PlainHttp::read_request(&mut desk).await? {
        let found = target.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let current = found.filter(|found| post.path() == format!("/{}", found.agent));
        let response = match current {
            Some(target) => target.pass_on(&post).await?,
            // An agent of an earlier scenario.
            None => PlainHttp::new("HTTP/1.1 503 Service Unavailable", &[]),
        };
        response.write_response(&mut desk).await?;
    }
    Ok(())
}

impl PostTarget {
    async fn pass_on(&self, post: &PlainHttp) -> io::Result<PlainHttp> {
        let frame: Value = serde_json::from_slice(&post.body).unwrap_or_default();
        let to_program = PlainHttp { first_line: "POST / HTTP/1.1".to_owned(), ..post.clone() };
        if frame["type"] == "interrupt_inbound" {
            return self.pass_stop(&to_program).await;
        }
        let entry = post.header("webhook-id").unwrap_or_default().to_owned();
        let text = frame["event"]["text"].as_str().unwrap_or_default();
        let passed = PassedPost { entry, token: self.notebook.token_in(text), post: to_program };
        self.pass_entry(&passed).await
    }

    async fn pass_stop(&self, order: &PlainHttp) -> io::Result<PlainHttp> {
        self.notebook.note_stop();
        let response = order.call(self.program).await?;
        let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        self.notebook.record(TrialFact::StopResult { stopped: reports_stop(&answer) });
        Ok(response)
    }

    async fn pass_entry(&self, passed: &PassedPost) -> io::Result<PlainHttp> {
        match self.next_action(SignalKind::Entry) {
            FaultAction::Twice => {
                let (first, _) = tokio::join!(self.post(passed), self.post(passed));
                self.finish(passed, first?).await
            }
            FaultAction::Again => {
                let first = self.finish(passed, self.post(passed).await?).await?;
                self.post(passed).await?;
                Ok(first)
            }
            FaultAction::CutBefore | FaultAction::CutAfter => {
                let cut = timeout(POST_CUT_AFTER, passed.post.call(self.program)).await;
                drop(cut);
                self.notebook.record(TrialFact::Cut);
                self.finish(passed, self.post(passed).await?).await
            }
            FaultAction::Pass | FaultAction::Swallow | FaultAction::Refuse => {
                self.finish(passed, self.post(passed).await?).await
            }
        }
    }

    /// Posts an entry until the program responds.
    async fn post(&self, passed: &PassedPost) -> io::Result<PlainHttp> {
        let give_up_at = Instant::now() + POST_AGAIN_WAIT;
        loop {
            match self.post_once(passed).await {
                Err(_) if Instant::now() < give_up_at => sleep(POST_AGAIN_PAUSE).await,
                done => return done,
            }
        }
    }

    async fn post_once(&self, passed: &PassedPost) -> io::Result<PlainHttp> {
        // A program that does not listen gets no entry.
        drop(TcpStream::connect(self.program).await?);
        let (entry, token) = (passed.entry.clone(), passed.token.clone());
        self.notebook.record(TrialFact::Delivery { entry, token });
        passed.post.call(self.program).await
    }

    /// Notes the response to a post. If the response gets lost, the entry is posted again.
    async fn finish(&self, passed: &PassedPost, response: PlainHttp) -> io::Result<PlainHttp> {
        if !response.is_success() || response.status() == ACK_LATER {
            return Ok(response);
        }
        let is_lost = self.next_action(SignalKind::Ack) == FaultAction::Swallow;
        let fate = if is_lost { SignalFate::Withheld } else { SignalFate::Passed };
        self.note_answer(passed, &response, fate);
        if !is_lost {
            return Ok(response);
        }
        let again = self.post(passed).await?;
        self.note_answer(passed, &again, SignalFate::Passed);
        Ok(again)
    }

    fn note_answer(&self, passed: &PassedPost, response: &PlainHttp, fate: SignalFate) {
        let body = String::from_utf8_lossy(&response.body);
        if let Some(token) = self.notebook.token_in(&body) {
            self.notebook.record(TrialFact::Send { token });
        }
        if response.is_success() {
            self.notebook.record(TrialFact::Ack { entry: passed.entry.clone(), fate });
        }
    }

    fn next_action(&self, kind: SignalKind) -> FaultAction {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).next_action(kind)
    }
}

/// An entry on its way to the program.
struct PassedPost {
    entry: String,
    token: Option<String>,
    post: PlainHttp,
}

/// Posts an entry with a signature that no secret made, and notes the response.
pub(super) async fn post_forgery(
    program: SocketAddr,
    notebook: &TrialNotebook,
    frame: &Value,
) -> io::Result<()> {
    let timestamp = SystemClock::start().now().as_second().to_string();
    let signature = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let post = PlainHttp::new("POST / HTTP/1.1", frame.to_string().as_bytes())
        .with_header("Host", &program.to_string())
        .with_header("Content-Type", "application/json")
        .with_header("webhook-id", "forged")
        .with_header("webhook-timestamp", &timestamp)
        .with_header("webhook-signature", signature);
    let status = post.call(program).await?.status();
    notebook.record(TrialFact::Forgery { status });
    Ok(())
}

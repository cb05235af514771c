//! The door between a program and the trial desk: it passes everything on, notes it, and makes the faults of the scenario.

mod exchange;
mod socket;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::facts::{TrialFact, TrialNotebook};
use super::fault::{FaultAction, FaultPlan, FaultRule, SignalKind};
use super::wire::http::PlainHttp;

/// The door of one scenario. It closes when it is dropped.
#[derive(Debug)]
pub(super) struct DeskDoor {
    address: SocketAddr,
    state: Arc<DoorState>,
    _closing: DropGuard,
}

impl DeskDoor {
    /// Opens a door to a desk.
    pub(super) async fn open(
        desk: SocketAddr,
        notebook: &Arc<TrialNotebook>,
        rules: &[FaultRule],
        tasks: &TaskTracker,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(DoorState {
            desk,
            notebook: Arc::clone(notebook),
            plan: Mutex::new(FaultPlan::new(rules)),
            again: Mutex::default(),
            cuts: watch::Sender::new(0),
        });
        let closing = CancellationToken::new();
        let serving = serve(listener, Arc::clone(&state), tasks.clone());
        let closed = closing.clone();
        tasks.spawn(async move { closed.run_until_cancelled(serving).await });
        Ok(Self { address, state, _closing: closing.drop_guard() })
    }

    /// The URL for the program.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends all connections of the program.
    pub(super) fn cut(&self) {
        self.state.notebook.record(TrialFact::Cut);
        self.state.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Makes no further faults.
    pub(super) fn end_faults(&self) {
        self.state.plan.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for DeskDoor {
    fn drop(&mut self) {
        self.state.cuts.send_modify(|cuts| *cuts += 1);
    }
}

/// The state that all connections of a door share.
#[derive(Debug)]
struct DoorState {
    desk: SocketAddr,
    notebook: Arc<TrialNotebook>,
    plan: Mutex<FaultPlan>,
    /// Copies of entries that follow after their ack.
    again: Mutex<Vec<CopiedEntry>>,
    cuts: watch::Sender<u64>,
}

/// A copy of an entry that was handed over.
#[derive(Debug)]
struct CopiedEntry {
    id: String,
    frame: Value,
    is_acked: bool,
}

async fn serve(listener: TcpListener, state: Arc<DoorState>, tasks: TaskTracker) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tasks.spawn(async move {
            let mut cuts = state.cuts.subscribe();
            // A connection that breaks is the program's affair: the judge sees only its consequences.
            tokio::select! {
                served = state.serve_connection(stream) => drop(served),
                changed = cuts.changed() => drop(changed),
            }
        });
    }
}

impl DoorState {
    async fn serve_connection(&self, stream: TcpStream) -> io::Result<()> {
        let mut client = BufReader::new(stream);
        while let Some(request) = PlainHttp::read_request(&mut client).await? {
            if request.is_upgrade() {
                return self.pass_line(client, &request).await;
            }
            if self.pass_exchange(&mut client, request).await? == ConnectionFate::Cut {
                return Ok(());
            }
        }
        Ok(())
    }

    fn next_action(&self, kind: SignalKind) -> FaultAction {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).next_action(kind)
    }

    /// Notes a dial, and returns the response of a desk that takes none now.
    fn note_dial(&self) -> Option<PlainHttp> {
        self.notebook.record(TrialFact::Dial);
        let refused = self.next_action(SignalKind::Dial) == FaultAction::Refuse;
        let response = || PlainHttp::new("HTTP/1.1 503 Service Unavailable", &[]);
        refused.then(|| response().with_header("Retry-After", "1"))
    }

    /// Notes a frame of an entry or of a stop order that reached the program.
    fn note_frame(&self, frame: &Value) {
        if let Some(entry) = entry_id(frame) {
            let text = frame["event"]["text"].as_str().unwrap_or_default();
            let token = self.notebook.token_in(text);
            self.notebook.record(TrialFact::Delivery { entry: entry.to_owned(), token });
        } else if frame["type"] == "interrupt_inbound" {
            self.notebook.note_stop();
        }
    }

    fn note_send(&self, content: &str) {
        if let Some(token) = self.notebook.token_in(content) {
            self.notebook.record(TrialFact::Send { token });
        }
    }

    fn keep_for_later(&self, frame: &Value) {
        let Some(id) = entry_id(frame) else { return };
        let copy = CopiedEntry { id: id.to_owned(), frame: frame.clone(), is_acked: false };
        self.again.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
    }

    fn note_ack_of_copies(&self, ids: &[String]) {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        for copy in again.iter_mut().filter(|copy| ids.contains(&copy.id)) {
            copy.is_acked = true;
        }
    }

    /// Takes the copies of entries that were acknowledged.
    fn take_copies(&self) -> Vec<Value> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        let due = again.extract_if(.., |copy| copy.is_acked);
        due.map(|copy| copy.frame).collect()
    }
}

/// The fate of a connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionFate {
    Open,
    Cut,
}

fn entry_id(frame: &Value) -> Option<&str> {
    let is_entry = frame["type"] == "inbound" || frame["type"] == "passthrough_forward";
    frame["bufferId"].as_str().filter(|_| is_entry)
}

#[cfg(test)]
mod tests;

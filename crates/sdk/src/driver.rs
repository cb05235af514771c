//! Executes the effects of a session.
//!
//! The driver waits for events, passes them to the session, executes the effects, and decides nothing.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nightdesk_protocol::ToGateway;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_protocol::lines::Lines;
use nightdesk_types::Moment;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, DriverCommand};
use crate::dial::LineDialler;
use crate::event::Event;
use crate::session::{
    AgentSession, CallId, Input, RequestResult, Seed, SessionEffect, SocketClose, Ticket,
    TurnResult, TurnStart,
};
use crate::socket::{AgentSocket, SocketEvent};
use crate::status::{Status, Trouble};

/// The agent's function for an event.
pub(crate) type TurnHandler =
    Arc<dyn Fn(Event) -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync>;

/// The error of a turn.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The published state.
#[derive(Clone, Debug)]
pub(crate) struct AgentState {
    pub(crate) status: Status,
    pub(crate) descriptors: Vec<Descriptor>,
    /// The last problem.
    pub(crate) trouble: Option<Trouble>,
}

/// The parts of a driver.
pub(crate) struct DriverParts {
    pub(crate) dialler: LineDialler,
    pub(crate) hellos: Vec<nightdesk_protocol::Frame>,
    pub(crate) seed: Seed,
    pub(crate) sleep_after: Option<Duration>,
    pub(crate) desk: Desk,
    pub(crate) commands: mpsc::Receiver<DriverCommand>,
    pub(crate) shown: watch::Sender<AgentState>,
    pub(crate) take: TurnHandler,
}

/// All lines of an agent, one after the other.
pub(crate) struct AgentDriver {
    dialler: Arc<LineDialler>,
    desk: Desk,
    busy: watch::Receiver<usize>,
    commands: mpsc::Receiver<DriverCommand>,
    shown: watch::Sender<AgentState>,
    take: TurnHandler,
    session: AgentSession,
    started: Instant,
    dialling: Option<BoxFuture<'static, Result<AgentSocket, Trouble>>>,
    socket: Option<AgentSocket>,
    lines: Lines,
    /// Dropped with the driver, which ends every turn.
    turns: JoinSet<(Ticket, TurnResult)>,
    stops: HashMap<Ticket, CancellationToken>,
    asks: HashMap<CallId, oneshot::Sender<RequestResult>>,
    asked: u64,
}

impl AgentDriver {
    pub(crate) fn new(parts: DriverParts) -> Self {
        let DriverParts { dialler, hellos, seed, sleep_after, desk, commands, shown, take } = parts;
        let session = AgentSession::new(Moment::default(), hellos, seed);
        Self {
            dialler: Arc::new(dialler),
            busy: desk.busy_count(),
            desk,
            commands,
            shown,
            take,
            session: match sleep_after {
                Some(quiet_for) => session.sleeping_after(quiet_for),
                None => session,
            },
            started: Instant::now(),
            dialling: None,
            socket: None,
            lines: Lines::new(),
            turns: JoinSet::new(),
            stops: HashMap::new(),
            asks: HashMap::new(),
            asked: 0,
        }
    }

    /// Runs until the session is over.
    pub(crate) async fn run(mut self) {
        while !self.session.is_over() {
            match self.next_event().await {
                DriverEvent::Dialled(Ok(socket)) => self.on_dialled(socket).await,
                DriverEvent::Dialled(Err(why)) => self.on_dial_failed(why).await,
                DriverEvent::Heard(SocketEvent::Text(text)) => self.on_text(&text).await,
                DriverEvent::Heard(SocketEvent::Alive) => self.settle(Input::Alive).await,
                DriverEvent::Heard(SocketEvent::Ended(ended)) => self.on_line_end(ended).await,
                DriverEvent::Wanted(command) => self.on_command(command).await,
                DriverEvent::Turned(ticket, how) => {
                    self.stops.remove(&ticket);
                    self.settle(Input::Handled(ticket, how)).await;
                }
                DriverEvent::Stirred => {
                    let held = *self.busy.borrow();
                    self.settle(Input::Busy(held)).await;
                }
                DriverEvent::Ticked => self.settle(Input::Tick).await,
            }
        }
        // A request at the last moment gets the answer that nothing was sent.
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            self.on_command(command).await;
        }
    }

    /// Waits for the first event.
    async fn next_event(&mut self) -> DriverEvent {
        let deadline = self.session.deadline();
        let now = self.now();
        tokio::select! {
            dialled = wait_for_dial(&mut self.dialling) => {
                self.dialling = None;
                DriverEvent::Dialled(dialled)
            }
            heard = next_socket_event(&mut self.socket) => DriverEvent::Heard(heard),
            Some(command) = self.commands.recv() => DriverEvent::Wanted(command),
            Some(Ok((ticket, how))) = self.turns.join_next() => DriverEvent::Turned(ticket, how),
            Ok(()) = self.busy.changed() => DriverEvent::Stirred,
            () = sleep(deadline.map_or(Duration::MAX, |at| at.since(now))) => DriverEvent::Ticked,
        }
    }

    fn now(&self) -> Moment {
        Moment::after_start(self.started.elapsed())
    }

    async fn on_dialled(&mut self, socket: AgentSocket) {
        (self.socket, self.lines) = (Some(socket), Lines::new());
        self.settle(Input::Dialled).await;
    }

    async fn on_dial_failed(&mut self, why: Trouble) {
        self.settle(Input::DialFailed(why)).await;
    }

    async fn on_text(&mut self, text: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        if let Ok(whole) = lines.push(text) {
            for line in whole {
                self.settle(Input::Heard(ToGateway::decode(&line))).await;
            }
        } else {
            self.close(Close::TooBig).await;
            let reason = Close::TooBig.reason().to_owned();
            self.on_line_end(SocketClose { code: Close::TooBig.code(), reason }).await;
        }
        self.lines = lines;
    }

    async fn on_line_end(&mut self, ended: SocketClose) {
        self.socket = None;
        self.settle(Input::Ended(ended)).await;
    }

    async fn on_command(&mut self, command: DriverCommand) {
        let input = match command {
            DriverCommand::Ask(wish, answer) => {
                let ask = CallId(self.asked);
                self.asked += 1;
                self.asks.insert(ask, answer);
                Input::Asked(ask, wish)
            }
            DriverCommand::Taken(ticket) => Input::Taken(ticket),
            DriverCommand::Sessions(sessions) => Input::Sessions(sessions),
            DriverCommand::GoIdle => Input::GoIdle,
            DriverCommand::Disconnect => Input::Disconnect,
        };
        self.settle(input).await;
    }

    /// Passes an input to the session and executes the effects. If the line breaks meanwhile, that is the next input.
    async fn settle(&mut self, input: Input) {
        let mut inputs: VecDeque<Input> = self.busy_change().into_iter().chain([input]).collect();
        while let Some(next) = inputs.pop_front() {
            for effect in self.session.step(self.now(), next) {
                if let Err(ended) = self.execute(effect).await {
                    self.socket = None;
                    inputs.push_back(Input::Ended(ended));
                }
            }
        }
    }

    /// Returns a change of the busy count that was not processed yet: it counts before any other decision.
    fn busy_change(&mut self) -> Option<Input> {
        let said = self.busy.has_changed().is_ok_and(|changed| changed);
        said.then(|| Input::Busy(*self.busy.borrow_and_update()))
    }

    async fn execute(&mut self, effect: SessionEffect) -> Result<(), SocketClose> {
        match effect {
            SessionEffect::Dial => {
                let dialler = Arc::clone(&self.dialler);
                self.dialling = Some(Box::pin(async move { dialler.dial().await }));
            }
            SessionEffect::Say(frame) => {
                if let Some(socket) = &mut self.socket {
                    socket.send_frame(frame).await?;
                }
            }
            SessionEffect::Ping => {
                if let Some(socket) = &mut self.socket {
                    socket.ping().await?;
                }
            }
            SessionEffect::Handle(given) => self.begin(*given),
            SessionEffect::Stop(ticket) => {
                if let Some(stop) = self.stops.get(&ticket) {
                    stop.cancel();
                }
            }
            SessionEffect::Answer(ask, answer) => {
                if let Some(asked) = self.asks.remove(&ask) {
                    // The caller may have gone; the answer is dropped then.
                    drop(asked.send(answer));
                }
            }
            SessionEffect::Close(close) => self.close(close).await,
            SessionEffect::Greeted(descriptors) => {
                self.shown.send_modify(|shown| shown.descriptors = descriptors);
            }
            SessionEffect::Show(status) => self.show(status),
        }
        Ok(())
    }

    fn begin(&mut self, given: TurnStart) {
        let (ticket, stop) = (given.ticket, CancellationToken::new());
        self.stops.insert(ticket, stop.clone());
        let event = Event::new(given, self.desk.clone(), stop);
        let take = Arc::clone(&self.take);
        self.turns.spawn(async move {
            let turn = AssertUnwindSafe(async move { take(event).await }).catch_unwind().await;
            (ticket, turn_result(turn))
        });
    }

    async fn close(&mut self, close: Close) {
        self.dialling = None;
        if let Some(socket) = self.socket.take() {
            socket.close(close).await;
        }
    }

    fn show(&self, status: Status) {
        let trouble = match &status {
            Status::Resting { why, rest_for } => {
                warn_of(why, *rest_for);
                Some(why.clone())
            }
            Status::Live | Status::Over(_) => {
                tracing::info!("line to the desk: {status:?}");
                None
            }
            Status::Dialling => None,
        };
        self.shown.send_modify(|shown| {
            shown.status = status;
            shown.trouble = trouble.or(shown.trouble.take());
        });
    }
}

fn warn_of(why: &Trouble, rest_for: Duration) {
    tracing::warn!(
        error = why as &dyn Error,
        "no line to the desk: {why}; dialling again in {rest_for:.1?}"
    );
}

/// The first event.
enum DriverEvent {
    Dialled(Result<AgentSocket, Trouble>),
    Heard(SocketEvent),
    Wanted(DriverCommand),
    Turned(Ticket, TurnResult),
    Stirred,
    Ticked,
}

/// Returns the result of a turn. The panic hook has already printed a panic.
fn turn_result<P>(turn: Result<Result<(), BoxError>, P>) -> TurnResult {
    match turn {
        Ok(Ok(())) => TurnResult::Well,
        Ok(Err(error)) => failed_turn(&*error),
        Err(_) => failed_turn(&*BoxError::from("the turn panicked")),
    }
}

fn failed_turn(error: &(dyn Error + 'static)) -> TurnResult {
    tracing::warn!(error, "a turn failed; unless its entry was acked, the desk delivers it again");
    TurnResult::Badly
}

async fn wait_for_dial(
    dialling: &mut Option<BoxFuture<'static, Result<AgentSocket, Trouble>>>,
) -> Result<AgentSocket, Trouble> {
    match dialling {
        Some(dialling) => dialling.await,
        None => std::future::pending().await,
    }
}

async fn next_socket_event(socket: &mut Option<AgentSocket>) -> SocketEvent {
    match socket {
        Some(socket) => socket.next_event().await,
        None => std::future::pending().await,
    }
}

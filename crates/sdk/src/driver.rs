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

use crate::desk::{Command, Desk};
use crate::dial::Dialler;
use crate::event::Event;
use crate::session::{Answer, AskId, Effect, Ended, Given, Input, Seed, Session, Ticket, Turned};
use crate::socket::{Heard, Socket};
use crate::status::{Status, Trouble};

/// The agent's function for an event.
pub(crate) type Take = Arc<dyn Fn(Event) -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync>;

/// The error of a turn.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The published state.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) status: Status,
    pub(crate) descriptors: Vec<Descriptor>,
    /// The last problem.
    pub(crate) trouble: Option<Trouble>,
}

/// The parts of a driver.
pub(crate) struct Parts {
    pub(crate) dialler: Dialler,
    pub(crate) hellos: Vec<nightdesk_protocol::Frame>,
    pub(crate) seed: Seed,
    pub(crate) sleep_after: Option<Duration>,
    pub(crate) desk: Desk,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) shown: watch::Sender<Shown>,
    pub(crate) take: Take,
}

/// All lines of an agent, one after the other.
pub(crate) struct Driver {
    dialler: Arc<Dialler>,
    desk: Desk,
    busy: watch::Receiver<usize>,
    commands: mpsc::Receiver<Command>,
    shown: watch::Sender<Shown>,
    take: Take,
    session: Session,
    started: Instant,
    dialling: Option<BoxFuture<'static, Result<Socket, Trouble>>>,
    socket: Option<Socket>,
    lines: Lines,
    /// Dropped with the driver, which ends every turn.
    turns: JoinSet<(Ticket, Turned)>,
    stops: HashMap<Ticket, CancellationToken>,
    asks: HashMap<AskId, oneshot::Sender<Answer>>,
    asked: u64,
}

impl Driver {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { dialler, hellos, seed, sleep_after, desk, commands, shown, take } = parts;
        let session = Session::new(Moment::default(), hellos, seed);
        Self {
            dialler: Arc::new(dialler),
            busy: desk.held(),
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
            match self.happened().await {
                Happened::Dialled(Ok(socket)) => self.dialled(socket).await,
                Happened::Dialled(Err(why)) => self.dial_failed(why).await,
                Happened::Heard(Heard::Text(text)) => self.heard_text(&text).await,
                Happened::Heard(Heard::Alive) => self.settle(Input::Alive).await,
                Happened::Heard(Heard::Ended(ended)) => self.ended(ended).await,
                Happened::Wanted(command) => self.wanted(command).await,
                Happened::Turned(ticket, how) => {
                    self.stops.remove(&ticket);
                    self.settle(Input::Handled(ticket, how)).await;
                }
                Happened::Stirred => {
                    let held = *self.busy.borrow();
                    self.settle(Input::Busy(held)).await;
                }
                Happened::Ticked => self.settle(Input::Tick).await,
            }
        }
        // A request at the last moment gets the answer that nothing was sent.
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            self.wanted(command).await;
        }
    }

    /// Waits for the first event.
    async fn happened(&mut self) -> Happened {
        let deadline = self.session.deadline();
        let now = self.now();
        tokio::select! {
            dialled = dialled(&mut self.dialling) => {
                self.dialling = None;
                Happened::Dialled(dialled)
            }
            heard = heard(&mut self.socket) => Happened::Heard(heard),
            Some(command) = self.commands.recv() => Happened::Wanted(command),
            Some(Ok((ticket, how))) = self.turns.join_next() => Happened::Turned(ticket, how),
            Ok(()) = self.busy.changed() => Happened::Stirred,
            () = sleep(deadline.map_or(Duration::MAX, |at| at.since(now))) => Happened::Ticked,
        }
    }

    fn now(&self) -> Moment {
        Moment::after_start(self.started.elapsed())
    }

    async fn dialled(&mut self, socket: Socket) {
        (self.socket, self.lines) = (Some(socket), Lines::new());
        self.settle(Input::Dialled).await;
    }

    async fn dial_failed(&mut self, why: Trouble) {
        self.settle(Input::DialFailed(why)).await;
    }

    async fn heard_text(&mut self, text: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        if let Ok(whole) = lines.push(text) {
            for line in whole {
                self.settle(Input::Heard(ToGateway::decode(&line))).await;
            }
        } else {
            self.close(Close::TooBig).await;
            let reason = Close::TooBig.reason().to_owned();
            self.ended(Ended { code: Close::TooBig.code(), reason }).await;
        }
        self.lines = lines;
    }

    async fn ended(&mut self, ended: Ended) {
        self.socket = None;
        self.settle(Input::Ended(ended)).await;
    }

    async fn wanted(&mut self, command: Command) {
        let input = match command {
            Command::Ask(wish, answer) => {
                let ask = AskId(self.asked);
                self.asked += 1;
                self.asks.insert(ask, answer);
                Input::Asked(ask, wish)
            }
            Command::Taken(ticket) => Input::Taken(ticket),
            Command::GoIdle => Input::GoIdle,
            Command::Disconnect => Input::Disconnect,
        };
        self.settle(input).await;
    }

    /// Passes an input to the session and executes the effects. If the line breaks meanwhile, that is the next input.
    async fn settle(&mut self, input: Input) {
        let mut inputs: VecDeque<Input> = self.held().into_iter().chain([input]).collect();
        while let Some(next) = inputs.pop_front() {
            for effect in self.session.step(self.now(), next) {
                if let Err(ended) = self.obey(effect).await {
                    self.socket = None;
                    inputs.push_back(Input::Ended(ended));
                }
            }
        }
    }

    /// Returns a change of the busy count that was not processed yet: it counts before any other decision.
    fn held(&mut self) -> Option<Input> {
        let said = self.busy.has_changed().is_ok_and(|changed| changed);
        said.then(|| Input::Busy(*self.busy.borrow_and_update()))
    }

    async fn obey(&mut self, effect: Effect) -> Result<(), Ended> {
        match effect {
            Effect::Dial => {
                let dialler = Arc::clone(&self.dialler);
                self.dialling = Some(Box::pin(async move { dialler.dial().await }));
            }
            Effect::Say(frame) => {
                if let Some(socket) = &mut self.socket {
                    socket.say(frame).await?;
                }
            }
            Effect::Ping => {
                if let Some(socket) = &mut self.socket {
                    socket.ping().await?;
                }
            }
            Effect::Handle(given) => self.begin(*given),
            Effect::Stop(ticket) => {
                if let Some(stop) = self.stops.get(&ticket) {
                    stop.cancel();
                }
            }
            Effect::Answer(ask, answer) => {
                if let Some(asked) = self.asks.remove(&ask) {
                    // The caller may have gone; the answer is dropped then.
                    drop(asked.send(answer));
                }
            }
            Effect::Close(close) => self.close(close).await,
            Effect::Greeted(descriptors) => {
                self.shown.send_modify(|shown| shown.descriptors = descriptors);
            }
            Effect::Show(status) => self.show(status),
        }
        Ok(())
    }

    fn begin(&mut self, given: Given) {
        let (ticket, stop) = (given.ticket, CancellationToken::new());
        self.stops.insert(ticket, stop.clone());
        let event = Event::new(given, self.desk.clone(), stop);
        let take = Arc::clone(&self.take);
        self.turns.spawn(async move {
            let turn = AssertUnwindSafe(async move { take(event).await }).catch_unwind().await;
            (ticket, judged(turn))
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
enum Happened {
    Dialled(Result<Socket, Trouble>),
    Heard(Heard),
    Wanted(Command),
    Turned(Ticket, Turned),
    Stirred,
    Ticked,
}

/// Returns the result of a turn. The panic hook has already printed a panic.
fn judged<P>(turn: Result<Result<(), BoxError>, P>) -> Turned {
    match turn {
        Ok(Ok(())) => Turned::Well,
        Ok(Err(error)) => failed(&*error),
        Err(_) => failed(&*BoxError::from("the turn panicked")),
    }
}

fn failed(error: &(dyn Error + 'static)) -> Turned {
    tracing::warn!(error, "a turn failed; unless its entry was acked, the desk delivers it again");
    Turned::Badly
}

async fn dialled(
    dialling: &mut Option<BoxFuture<'static, Result<Socket, Trouble>>>,
) -> Result<Socket, Trouble> {
    match dialling {
        Some(dialling) => dialling.await,
        None => std::future::pending().await,
    }
}

async fn heard(socket: &mut Option<Socket>) -> Heard {
    match socket {
        Some(socket) => socket.hear().await,
        None => std::future::pending().await,
    }
}

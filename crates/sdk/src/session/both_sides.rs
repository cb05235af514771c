//! The desk's session and the agent's session talk to each other, without a socket.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_inbox::{Entry, ReadResponse};
use nightdesk_line::session as desk;
use nightdesk_line::{CloseRecord as DeskEnd, ClosingSide, LineStart};
use nightdesk_protocol::lines::Lines;
use nightdesk_protocol::{EntryJson, FromGateway};
use nightdesk_types::send::Op;
use nightdesk_types::{
    AgentId, BotId, ClientRules, Generation, Incarnation, Moment, Seq, Timestamp, Transport,
};
use uuid::Uuid;

use super::tests::SEED;
use super::*;
use crate::settings::Settings;
use crate::status::{AgentEnd, Idle};

mod sleeping;

const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());
const BOT: BotId = BotId::from_uuid(Uuid::nil());

/// A desk with an inbox, an agent, and the frames between them.
struct Between {
    now: Duration,
    agent: AgentSession,
    desk: Option<desk::LineSession>,
    inbox: Vec<Entry>,
    acked: BTreeSet<i64>,
    /// The next steps, on either side.
    next: VecDeque<Next>,
    turns: Vec<TurnStart>,
    handled: Vec<String>,
    stopped: Vec<Ticket>,
    delivered: Vec<String>,
    answers: Vec<(CallId, RequestResult)>,
    shown: Vec<Status>,
    /// The sessions that the desk stored last.
    sessions: Vec<String>,
    desk_end: Option<DeskEnd>,
}

enum Next {
    AtTheDesk(desk::LineInput),
    AtTheAgent(Input),
}

impl Between {
    fn new() -> Self {
        let hellos = settings().check().unwrap().hellos;
        Self {
            now: Duration::ZERO,
            agent: AgentSession::new(Moment::default(), hellos, SEED),
            desk: None,
            inbox: Vec::new(),
            acked: BTreeSet::new(),
            next: VecDeque::new(),
            turns: Vec::new(),
            handled: Vec::new(),
            stopped: Vec::new(),
            delivered: Vec::new(),
            answers: Vec::new(),
            shown: Vec::new(),
            sessions: Vec::new(),
            desk_end: None,
        }
    }

    /// Puts a message into the inbox, and rings the bell.
    fn says(&mut self, text: &str, chat: &str) {
        self.put(text, chat);
        self.talk();
    }

    /// Puts a message into the inbox; the bell has not arrived yet.
    fn put(&mut self, text: &str, chat: &str) {
        let seq = Seq::new(i64::try_from(self.inbox.len()).unwrap() + 1);
        let json = format!(
            r#"{{"type":"inbound","event":{{"text":"{text}","source":{{"platform":"discord","chat_id":"{chat}","chat_type":"dm"}}}}}}"#
        );
        let json = EntryJson::from_stored(json.into_bytes()).unwrap();
        self.inbox.push(Entry {
            seq,
            incarnation: Incarnation::new(1),
            at: Timestamp::UNIX_EPOCH,
            bot: BOT,
            chat_id: chat.to_owned(),
            json: Ok(Arc::new(json)),
        });
        self.next.push_back(Next::AtTheDesk(desk::LineInput::Rung(Some(seq))));
    }

    fn at_the_agent(&mut self, input: Input) {
        self.next.push_back(Next::AtTheAgent(input));
        self.talk();
    }

    fn at_the_desk(&mut self, input: desk::LineInput) {
        self.next.push_back(Next::AtTheDesk(input));
        self.talk();
    }

    fn pass(&mut self, span: Duration) {
        self.now += span;
        self.at_the_desk(desk::LineInput::Tick);
        self.at_the_agent(Input::Tick);
    }

    /// Runs both sides until neither has a step left.
    fn talk(&mut self) {
        while !self.next.is_empty() {
            self.talk_once();
        }
    }

    fn talk_once(&mut self) {
        let moment = Moment::after_start(self.now);
        match self.next.pop_front() {
            Some(Next::AtTheAgent(input)) => {
                for effect in self.agent.step(moment, input) {
                    self.agents(effect);
                }
            }
            Some(Next::AtTheDesk(input)) => {
                let now = desk::SessionTime { moment, wall: Timestamp::UNIX_EPOCH };
                let effects = self.desk.as_mut().map(|desk| desk.step(now, input));
                for effect in effects.unwrap_or_default() {
                    self.desks(effect);
                }
            }
            None => {}
        }
    }

    /// Executes an effect of the agent's session.
    fn agents(&mut self, effect: SessionEffect) {
        match effect {
            SessionEffect::Dial => {
                let now = desk::SessionTime {
                    moment: Moment::after_start(self.now),
                    wall: Timestamp::UNIX_EPOCH,
                };
                let client =
                    desk::LineClient { agent: AGENT, acks: true, transport: Transport::WebSocket };
                self.desk = Some(desk::LineSession::new(now, client));
                self.next.push_back(Next::AtTheAgent(Input::Dialled));
            }
            SessionEffect::Say(frame) => {
                let heard = FromGateway::decode(frame.as_str().trim_end().as_bytes());
                self.next.push_back(Next::AtTheDesk(desk::LineInput::Heard(heard)));
            }
            SessionEffect::Ping => {
                self.next.push_back(Next::AtTheDesk(desk::LineInput::Pinged));
                self.next.push_back(Next::AtTheAgent(Input::Alive));
            }
            SessionEffect::Handle(given) => self.turns.push(*given),
            SessionEffect::Stop(ticket) => self.stopped.push(ticket),
            SessionEffect::Answer(ask, answer) => self.answers.push((ask, answer)),
            SessionEffect::Close(close) => {
                let ended = desk::LineInput::Ended { code: close.code() };
                self.next.push_back(Next::AtTheDesk(ended));
            }
            SessionEffect::Show(status) => self.shown.push(status),
            SessionEffect::Greeted(_) => {}
        }
    }

    /// Executes an effect of the desk's session.
    fn desks(&mut self, effect: desk::LineEffect) {
        let next = match effect {
            desk::LineEffect::Greet(hello) => {
                assert_eq!(hello.client.unwrap().name, "nightdesk-sdk");
                let length = NonZeroU32::new(2_000).unwrap();
                let descriptor = Descriptor::new(&hello.platform, "Discord", length);
                let greeted = desk::HelloLookup { descriptor };
                Next::AtTheDesk(desk::LineInput::Greeted(Box::new(greeted)))
            }
            desk::LineEffect::Take(_) => Next::AtTheDesk(desk::LineInput::Taken(self.taken())),
            desk::LineEffect::Say(frame) => {
                let mut lines = Lines::new();
                for line in lines.push(frame.as_str().as_bytes()).unwrap() {
                    let heard = Input::Heard(ToGateway::decode(&line));
                    self.next.push_back(Next::AtTheAgent(heard));
                }
                return;
            }
            desk::LineEffect::Ping => {
                self.next.push_back(Next::AtTheAgent(Input::Alive));
                Next::AtTheDesk(desk::LineInput::Pong)
            }
            desk::LineEffect::Read { after, entries_max, .. } => {
                let unacked =
                    |entry: &&Entry| entry.seq > after && !self.acked.contains(&entry.seq.get());
                let entries = self.inbox.iter().filter(unacked).take(entries_max).cloned();
                Next::AtTheDesk(desk::LineInput::Read(ReadResponse::Entries(entries.collect())))
            }
            desk::LineEffect::Ack(range) => {
                self.acked.extend(range.from.get()..=range.to.get());
                return;
            }
            desk::LineEffect::Send(outbound) => {
                let Action::Send(send) = outbound.action else { panic!("not a send") };
                let Op::Send { content, .. } = send.op else { panic!("not a message") };
                self.delivered.push(content);
                let outcome = Box::new(Outcome::delivered(Some("m1".to_owned())));
                Next::AtTheDesk(desk::LineInput::Sent(outbound.request_id, outcome))
            }
            desk::LineEffect::Stop(Interrupt { session_key, .. }) => {
                let chat_id = String::new();
                Next::AtTheDesk(desk::LineInput::Stop { session_key, chat_id })
            }
            desk::LineEffect::TellSessions(sessions) => {
                self.sessions = sessions.to_vec();
                return;
            }
            desk::LineEffect::Suspect | desk::LineEffect::FollowRules(_) => return,
            desk::LineEffect::Close(close) => {
                let reason = close.reason().to_owned();
                Next::AtTheAgent(Input::Ended(SocketClose { code: close.code(), reason }))
            }
            desk::LineEffect::End(end) => {
                self.desk_end = Some(end);
                return;
            }
            desk::LineEffect::Park(..) => panic!("everything can be sent"),
        };
        self.next.push_back(next);
    }

    /// Returns the cursor, which is before the oldest unacked entry.
    fn taken(&self) -> LineStart {
        let unacked = self.inbox.iter().find(|entry| !self.acked.contains(&entry.seq.get()));
        let head = i64::try_from(self.inbox.len()).unwrap();
        let acked = unacked.map_or(head, |entry| entry.seq.get() - 1);
        LineStart {
            incarnation: Incarnation::new(1),
            generation: Generation::new(1),
            acked: Seq::new(acked),
            since: Timestamp::UNIX_EPOCH,
            head: Seq::new(head),
            restarted_ago: None,
            parked: None,
            rules: ClientRules::Sdk,
        }
    }

    /// Ends the oldest running turn.
    fn turned(&mut self, how: TurnResult) {
        let given = self.turns.remove(0);
        if how == TurnResult::Well {
            self.handled.push(text(&given).to_owned());
        }
        self.at_the_agent(Input::Handled(given.ticket, how));
    }

    fn send(&mut self, ask: u64, text: &str) {
        let op = Op::Send { content: text.to_owned(), reply_to: None };
        let metadata = serde_json::Map::default();
        let send = nightdesk_types::Send { chat_id: "c1".to_owned(), op, metadata };
        let tagged = RoutedAction {
            request_id: None,
            action: Action::Send(send),
            platform: None,
            bot_handle: None,
        };
        self.at_the_agent(Input::Asked(CallId(ask), DeskRequest::Outbound(Box::new(tagged))));
    }

    fn texts_of_turns(&self) -> Vec<&str> {
        self.turns.iter().map(text).collect()
    }
}

fn settings() -> Settings {
    Settings::new("ws://desk", "gw-1", "s").speaking_for("discord", "b1")
}

fn text(given: &TurnStart) -> &str {
    let Content::Message(inbound) = &given.content else { panic!("not a message") };
    &inbound.message.text
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn both_sides_talk_from_hello_to_goodbye() {
    let mut both = Between::new();
    both.pass(secs(0));
    assert_eq!(both.shown, [Status::Dialling, Status::Live]);

    // No time passes: the desk does not hold back for a client that identifies itself.
    both.says("one", "c1");
    both.says("two", "c2");
    both.says("three", "c1");
    assert_eq!(both.texts_of_turns(), ["one", "two"], "one turn for each chat");

    both.send(1, "answer");
    assert_eq!(both.delivered, ["answer"]);
    let outcome = Outcome::delivered(Some("m1".to_owned()));
    assert_eq!(both.answers, [(CallId(1), Ok(Some(Box::new(outcome))))]);

    let (session_key, ticket) = (both.turns[0].session.clone(), both.turns[0].ticket);
    let stop = DeskRequest::Interrupt(Interrupt { session_key, reason: None });
    both.at_the_agent(Input::Asked(CallId(2), stop));
    assert_eq!(both.stopped, [ticket], "the desk sends it back to the turn it names");

    both.turned(TurnResult::Well);
    assert_eq!(both.acked, BTreeSet::from([1]));
    both.at_the_agent(Input::GoIdle);
    assert!(!both.agent.is_over(), "turns are under way");
    both.turned(TurnResult::Well);
    both.turned(TurnResult::Well);
    assert_eq!(both.handled, ["one", "two", "three"]);
    assert_eq!(both.acked, BTreeSet::from([1, 2, 3]), "acked before the line was closed");
    assert_eq!(both.shown.last(), Some(&Status::Over(AgentEnd::Idle(Idle::Settled))));
    assert_eq!(
        both.desk_end,
        Some(DeskEnd { code: 1000, tried: None, closed_by: ClosingSide::Idle })
    );
}

#[test]
fn what_was_unacked_when_a_line_was_lost_comes_again_and_is_handled_once() {
    let mut both = Between::new();
    both.pass(secs(0));
    for (text, chat) in [("one", "c1"), ("two", "c1"), ("three", "c2"), ("four", "c3")] {
        both.says(text, chat);
    }
    both.turned(TurnResult::Well);
    assert_eq!(both.texts_of_turns(), ["three", "four", "two"]);

    // The desk receives no further frame from the agent.
    both.desk = None;
    both.turned(TurnResult::Well);
    both.turned(TurnResult::Badly);
    both.send(1, "lost");
    both.at_the_agent(Input::Ended(SocketClose { code: 1006, reason: String::new() }));
    assert_eq!(both.answers, [(CallId(1), Err(RequestFailure::Unknown))]);
    assert_eq!(both.acked, BTreeSet::from([1]));

    both.pass(secs(1));
    assert_eq!(both.shown.last(), Some(&Status::Live));
    assert_eq!(both.acked, BTreeSet::from([1, 3]), "handled before: acked, and no second turn");
    assert_eq!(both.texts_of_turns(), ["two", "four"], "under way, and once more after failing");
    both.turned(TurnResult::Well);
    both.turned(TurnResult::Well);
    assert_eq!(both.handled, ["one", "three", "two", "four"]);
    assert_eq!(both.acked, BTreeSet::from([1, 2, 3, 4]));
    assert_eq!(both.delivered, [""; 0], "what may have been sent is never sent again");
}

#[test]
fn a_turn_that_never_ends_costs_its_line_and_nothing_else() {
    let mut both = Between::new();
    both.pass(secs(0));
    both.says("endless", "c1");
    both.says("quick", "c2");
    both.turns.swap(0, 1);
    both.turned(TurnResult::Well);

    for _ in 0..10 {
        both.pass(secs(10));
    }
    assert_eq!(both.desk_end.and_then(|end| end.tried), Some(Seq::new(1)), "a try was counted");
    assert_eq!(both.shown.last(), Some(&Status::Live), "and the agent dialled again");
    assert_eq!(both.texts_of_turns(), ["endless"], "no second turn");
    both.turned(TurnResult::Well);
    assert_eq!(both.acked, BTreeSet::from([1, 2]));
}

#[test]
fn a_revoked_gateway_learns_it_for_good_on_its_second_line() {
    let mut both = Between::new();
    both.pass(secs(0));

    both.at_the_desk(desk::LineInput::Revoked);
    assert!(!both.agent.is_over());
    both.pass(secs(0));
    both.at_the_desk(desk::LineInput::Revoked);
    assert_eq!(both.shown.last(), Some(&Status::Over(AgentEnd::Revoked)));
}

#[test]
fn live_sessions_are_named_on_every_line() {
    let mut between = Between::new();
    let names =
        |names: &[&str]| SessionNames::from_usable(names.iter().map(|&name| name.to_owned()));
    between.at_the_agent(Input::Sessions(names(&["kitchen"])));
    assert!(between.sessions.is_empty(), "there is no line yet");

    between.at_the_agent(Input::Tick);
    assert_eq!(between.sessions, ["kitchen"]);
    between.at_the_agent(Input::Sessions(names(&["cellar", "kitchen"])));
    assert_eq!(between.sessions, ["cellar", "kitchen"]);
    between.sessions.clear();
    between.at_the_desk(desk::LineInput::HistoryChanged);
    for _ in 0..10 {
        between.pass(Duration::from_secs(1));
    }
    assert_eq!(between.sessions, ["cellar", "kitchen"], "also on the next line");
}

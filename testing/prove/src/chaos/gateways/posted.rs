//! Simulates an agent to which the desk posts entries: it answers in the response, or acks by a request, and fails once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nightdesk_judge::Event;
use nightdesk_protocol::ToGateway;
use nightdesk_protocol::event::Inbound;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::agent::CUT;
use super::duty::{self, answers, entry_seen};
use super::requests::{Caller, Calls, LineCall, Reply, rest};
use super::{Hall, Told};
use crate::called::{TargetCall, answer_with};
use crate::chance::Dice;
use crate::chaos::letters::asks;
use crate::chaos::plan::Plan;
use crate::chaos::platform::nonce_in;

/// Range of a turn in milliseconds, and of a long one with its percentage. The entries of a chat are posted one after
/// the other.
const TURN_MS: (u64, u64) = (0, 400);
const LONG_TURN_MS: (u64, u64) = (5_000, 20_000);
const LONG_PERCENT: u64 = 2;

/// Percentage of entries that the agent acks by a request.
const LATER_PERCENT: u64 = 30;

/// Percentage of entries that the agent fails, until it has failed once.
const FAILS_PERCENT: u64 = 2;

/// Timeout of an ack.
const ACK_WAIT: Duration = Duration::from_secs(4);

/// The posts to an agent so far. The desk does not tell which posts belong to one line: one begins with the first post,
/// with the first after a failure, and with an entry that comes again.
#[derive(Debug, Default)]
pub(super) struct PostedAgent {
    lines: u64,
    /// The current line.
    conn: Option<String>,
    /// The entries of the current line.
    seen: BTreeSet<String>,
    /// Number of posts so far, from which the next one's dice follow.
    posts: u64,
    has_failed: bool,
    /// Entries whose posts are held open.
    held: BTreeSet<String>,
    /// Entries whose posts were held open until the desk hung up.
    cut_off: BTreeSet<String>,
    /// True if one of these came again.
    is_posted_again: bool,
}

impl PostedAgent {
    /// Returns true if a post is held open.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns true if an entry came again whose post was held open until the desk hung up.
    pub(super) const fn is_posted_again(&self) -> bool {
        self.is_posted_again
    }

    /// Forgets the posts that were held open.
    pub(super) fn begin_to_hold(&mut self) {
        self.cut_off.clear();
        self.is_posted_again = false;
    }
}

/// A post of an entry.
struct Post {
    hall: Arc<Hall>,
    member: usize,
    stream: TcpStream,
    conn: String,
    /// The entry's id.
    id: String,
    frame: ToGateway,
    dice: Dice,
}

/// Takes a post to a member's agent.
pub(super) async fn take(
    hall: Arc<Hall>,
    member: usize,
    called: TargetCall,
    mut stream: TcpStream,
) {
    let frame = ToGateway::decode(&called.body);
    let Some(entry) = duty::entry(&frame) else {
        return answer_with(&mut stream, 200, "").await;
    };
    let id = called.header("webhook-id").unwrap_or_default().to_owned();
    if entry.buffer_id != Some(&*id) {
        // An entry whose post has another id is not handled, and the judge reports it as lost.
        return answer_with(&mut stream, 400, "").await;
    }
    let (conn, dice) = begin(&hall, member, &id);
    if let Some(seen) = entry_seen(&conn, &Plan::agent(member), &frame, called.body.len()) {
        hall.notes.note(seen);
    }
    Post { hall, member, stream, conn, id, frame, dice }.turn().await;
}

/// Returns the line of a post, and its dice.
fn begin(hall: &Hall, member: usize, id: &str) -> (String, Dice) {
    let mut agents = hall.posted();
    let agent = agents.entry(member).or_default();
    agent.posts += 1;
    let dice = Dice::of(hall.plan.seed, 5_000_000 + 10_000 * member as u64 + agent.posts);
    agent.is_posted_again |= agent.cut_off.contains(id);
    if !agent.seen.insert(id.to_owned())
        && let Some(conn) = agent.conn.take()
    {
        close(hall, conn, "an entry comes again");
    }
    if let Some(conn) = &agent.conn {
        return (conn.clone(), dice);
    }
    agent.lines += 1;
    agent.seen = BTreeSet::from([id.to_owned()]);
    let conn = format!("{}#{}", Plan::agent(member), agent.lines);
    agent.conn = Some(conn.clone());
    let gateway = hall.plan.cast.members[member].gateway.clone();
    hall.notes.note(Event::GwOpen { conn: conn.clone(), gateway, agent: Plan::agent(member) });
    (conn, dice)
}

fn close(hall: &Hall, conn: String, reason: &str) {
    hall.notes.note(Event::GwClose { conn, code: CUT, reason: reason.to_owned() });
}

impl Post {
    async fn turn(mut self) {
        if self.fails() {
            self.end_line("it failed");
            // Half of the failures have no response.
            if self.dice.percent(50) {
                answer_with(&mut self.stream, 500, "").await;
            }
            return;
        }
        let is_settled = self.hall.told.borrow().settled;
        let is_long = !is_settled && self.dice.percent(LONG_PERCENT);
        let (least, most) = if is_long { LONG_TURN_MS } else { TURN_MS };
        let takes = self.dice.between_ms(least, most);
        if self.dice.percent(LATER_PERCENT) && !self.hall.told.borrow().holds {
            answer_with(&mut self.stream, 202, "").await;
            self.settled_or(takes).await;
            return self.ack_later().await;
        }
        if self.desk_hangs_up(takes).await {
            return self.end_line("the desk hung up");
        }
        let words = self.words();
        self.note_ack();
        answer_with(&mut self.stream, 200, &words).await;
    }

    /// Returns true if the agent fails this entry, which it does once.
    fn fails(&mut self) -> bool {
        if self.hall.told.borrow().settled || !self.dice.percent(FAILS_PERCENT) {
            return false;
        }
        let mut agents = self.hall.posted();
        let agent = agents.entry(self.member).or_default();
        !std::mem::replace(&mut agent.has_failed, true)
    }

    /// Waits for a time, or until the run comes to rest.
    async fn settled_or(&self, takes: Duration) {
        let mut told = self.hall.told.subscribe();
        tokio::select! {
            () = sleep(takes) => {}
            _ = told.wait_for(|told| told.settled || told.over) => {}
        }
    }

    /// Waits for a time, and for as long as posts are held open. Returns true if the desk hangs up before: it sends
    /// nothing more until it has the response.
    async fn desk_hangs_up(&mut self, takes: Duration) -> bool {
        let mut told = self.hall.told.subscribe();
        let is_held = told.borrow().holds;
        if is_held {
            self.hold(|agent, id| agent.held.extend([id]));
        }
        let mut byte = [0];
        let released = async {
            if is_held {
                told.wait_for(|told: &Told| !told.holds || told.over).await.map(drop).ok();
            } else {
                tokio::select! {
                    () = sleep(takes) => {}
                    _ = told.wait_for(|told| told.settled || told.over) => {}
                }
            }
        };
        let hangs_up = tokio::select! {
            biased;
            _ = self.stream.read(&mut byte) => true,
            () = released => false,
        };
        if is_held {
            self.hold(|agent, id| {
                agent.held.remove(&id);
                if hangs_up {
                    agent.cut_off.insert(id);
                }
            });
        }
        hangs_up
    }

    fn hold(&self, change: impl FnOnce(&mut PostedAgent, String)) {
        change(self.hall.posted().entry(self.member).or_default(), self.id.clone());
    }

    /// Ends the post's line, if it is the current one.
    fn end_line(&self, reason: &str) {
        let mut agents = self.hall.posted();
        let agent = agents.entry(self.member).or_default();
        if let Some(conn) = agent.conn.take_if(|conn| *conn == self.conn) {
            close(&self.hall, conn, reason);
        }
    }

    fn note_ack(&self) {
        let (conn, agent) = (self.conn.clone(), Plan::agent(self.member));
        self.hall.notes.note(Event::GwAck { conn, agent, buffer_id: self.id.clone() });
        self.hall.acked.fetch_add(1, Ordering::Relaxed);
    }

    /// Acks the entry by requests to any node, until one is taken or the desk holds no line of the agent: then the entry
    /// comes again.
    async fn ack_later(mut self) {
        self.note_ack();
        let hall = Arc::clone(&self.hall);
        let caller = Caller { hall: &hall, member: self.member, calls: Calls::Routes };
        let body = json!({ "buffer_ids": [self.id] });
        loop {
            match caller.ask(LineCall::Ack, &body, ACK_WAIT, &mut self.dice).await {
                Reply::Done(_) => return,
                Reply::Gone => return self.end_line("an ack was not taken"),
                // The entry may come again.
                Reply::Unclear => self.end_line("an ack had no response"),
            }
            if hall.told.borrow().over {
                return;
            }
            rest(&mut self.dice).await;
        }
    }

    /// Returns the answer to the entry: none, a message, or the reply to a letter. An entry that comes again gets the
    /// same one, which must not be sent again.
    fn words(&self) -> String {
        let ToGateway::Inbound { event, .. } = &self.frame else { return String::new() };
        let agent = Plan::agent(self.member);
        let nonce = nonce_in(&event.message.text).to_owned();
        let words = format!("{agent}#{nonce}");
        if event.message.letter.is_some() {
            return self.reply(event, words);
        }
        if !answers(self.member) {
            return String::new();
        }
        self.hall.notes.note(Event::OutReq {
            conn: self.conn.clone(),
            agent,
            request: words.clone(),
            chat: event.source.chat_id.clone(),
            nonce: words.clone(),
        });
        words
    }

    fn reply(&self, letter: &Inbound, words: String) -> String {
        if !asks(&letter.message.text) {
            return String::new();
        }
        let (conn, agent) = (self.conn.clone(), Plan::agent(self.member));
        let nonce = nonce_in(&letter.message.text).to_owned();
        self.hall.notes.note(Event::LetterReply { conn, agent, nonce, words: words.clone() });
        words
    }
}

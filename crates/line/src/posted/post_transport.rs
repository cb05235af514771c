//! The transport of a posted line: frames become requests to the agent's URL, and responses become frames.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use nightdesk_inbox::AckRange;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::{FrameHead, Outbound};
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{LINE_REQUESTS_MAX, TURN_MAX, WEBHOOK_REST};
use nightdesk_types::{EntryId, RequestId, Transport};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

use super::answer::{AnswerPlace, PostAnswer};
use super::answer_sends::{AnswerSends, AnswerStep, AttemptResult};
use super::stop_posts::StopPosts;
use super::{AgentPost, AgentPoster, KIND, PostOutcome};
use crate::store::AuthenticatedGateway;
use crate::transport::{LineTransport, TransportBroken, TransportEvent};

/// A request of the agent to its line.
#[derive(Debug)]
pub(super) enum AgentRequest {
    /// A frame without a result.
    Frame(FromGateway),
    /// An action, and the place for the frame with its result.
    Send { outbound: Box<Outbound>, tell: oneshot::Sender<Frame> },
}

/// An entry that waits for its post: those of one chat are posted one after the other.
#[derive(Debug)]
struct WaitingEntry {
    id: String,
    frame: String,
    place: AnswerPlace,
    /// True if its ack is stored, as that of an agent that is not asked for acks.
    is_stored: bool,
}

/// An entry that was posted.
#[derive(Debug)]
struct PostedEntry {
    place: AnswerPlace,
    state: PostState,
    /// True if its ack is stored.
    is_stored: bool,
    /// Keeps a post that has not begun from being made.
    withdrawn: Arc<AtomicBool>,
}

#[derive(Debug)]
enum PostState {
    /// The response is outstanding.
    Posted,
    /// The answer is being sent.
    Answering(AnswerSends),
    /// The agent acknowledges the entry before this time.
    Later(Instant),
    /// The agent acknowledged the entry. The next one of its chat is posted once the ack is stored: an entry that waited
    /// for a turn may since have been acknowledged on a newer line, and the store takes no ack of this one then.
    Acknowledged,
}

/// The end of a post.
struct PostEnd {
    id: String,
    outcome: PostOutcome,
}

/// A posted line, as its session sees it.
pub(super) struct PostTransport {
    caller: AuthenticatedGateway,
    poster: Arc<dyn AgentPoster>,
    from_agent: mpsc::Receiver<AgentRequest>,
    waiting: VecDeque<WaitingEntry>,
    entries: HashMap<String, PostedEntry>,
    posts: FuturesUnordered<BoxFuture<'static, PostEnd>>,
    stops: StopPosts,
    /// Sends of answers that are made again after a pause.
    repeats: FuturesUnordered<BoxFuture<'static, Box<Outbound>>>,
    /// The agent's own requests that wait for the result of a send. The end of the line drops them.
    asked: HashMap<RequestId, oneshot::Sender<Frame>>,
    /// Events for the session.
    events: VecDeque<TransportEvent>,
    /// Set when a post failed: no further one begins, and the line ends when the others have ended.
    failure: Option<Failure>,
    used_at: Instant,
}

/// The posts that failed.
#[derive(Debug, Default)]
struct Failure {
    /// The entries that reached the agent in vain.
    tried: Vec<EntryId>,
}

impl PostTransport {
    /// Creates the transport, and the sender of the agent's own requests.
    pub(super) fn new(
        caller: AuthenticatedGateway,
        poster: Arc<dyn AgentPoster>,
    ) -> (mpsc::Sender<AgentRequest>, Self) {
        let (to_session, from_agent) = mpsc::channel(LINE_REQUESTS_MAX);
        let transport = Self {
            caller,
            stops: StopPosts::new(caller, Arc::clone(&poster)),
            poster,
            from_agent,
            waiting: VecDeque::new(),
            entries: HashMap::new(),
            posts: FuturesUnordered::new(),
            repeats: FuturesUnordered::new(),
            asked: HashMap::new(),
            events: VecDeque::new(),
            failure: None,
            used_at: Instant::now(),
        };
        (to_session, transport)
    }

    /// Starts the posts that may start: one per chat. The session's window bounds their number.
    fn start_posts(&mut self) {
        while self.failure.is_none()
            && let Some(next) = self.waiting.iter().position(|entry| !self.is_busy(&entry.place))
            && let Some(entry) = self.waiting.remove(next)
        {
            let WaitingEntry { id, frame, place, is_stored } = entry;
            let withdrawn = Arc::<AtomicBool>::default();
            self.post(id.clone(), &frame, Arc::clone(&withdrawn));
            let entry = PostedEntry { place, state: PostState::Posted, is_stored, withdrawn };
            self.entries.insert(id, entry);
        }
    }

    fn is_busy(&self, place: &AnswerPlace) -> bool {
        self.entries.values().any(|entry| entry.place.chat_id == place.chat_id)
    }

    fn post(&self, id: String, frame: &str, withdrawn: Arc<AtomicBool>) {
        let AuthenticatedGateway { scope, agent, .. } = self.caller;
        let poster = Arc::clone(&self.poster);
        let body = frame.trim_end().to_owned();
        let post = AgentPost { scope, agent, id: id.clone(), body, withdrawn };
        self.posts.push(Box::pin(async move { PostEnd { id, outcome: poster.post(post).await } }));
    }

    fn handle_end(&mut self, end: PostEnd) {
        let PostEnd { id, outcome } = end;
        self.used_at = Instant::now();
        if self.posted(&id).is_none() {
            // The agent acknowledged the entry meanwhile, so this post decides nothing.
            return;
        }
        match outcome {
            PostOutcome::Handled(answer) => self.answer(&id, answer),
            PostOutcome::Later => self.wait_for_ack(&id),
            PostOutcome::Failed(words) => {
                self.fail(&id, &words).tried.extend(id.parse::<EntryId>().ok());
            }
            PostOutcome::Unreachable(words) => drop(self.fail(&id, &words)),
        }
    }

    /// Sends the answer to an entry, which is acknowledged when the sends have their results: a node that dies before
    /// posts the entry again, and the repeated sends have no effect.
    fn answer(&mut self, id: &str, answer: PostAnswer) {
        let Some(entry) = self.posted(id) else { return };
        let sends = entry.place.sends(id, answer);
        if sends.is_empty() {
            return self.settle(id);
        }
        entry.state = PostState::Answering(AnswerSends::new(&sends));
        for send in sends {
            let frame = FromGateway::Outbound(Box::new(send));
            self.events.push_back(TransportEvent::Frame(Box::new(frame)));
        }
    }

    fn wait_for_ack(&mut self, id: &str) {
        if let Some(entry) = self.posted(id) {
            entry.state = PostState::Later(Instant::now() + TURN_MAX);
        }
    }

    /// Returns an entry whose response is outstanding. The agent may have acknowledged it meanwhile.
    fn posted(&mut self, id: &str) -> Option<&mut PostedEntry> {
        let is_posted = |entry: &&mut PostedEntry| matches!(entry.state, PostState::Posted);
        self.entries.get_mut(id).filter(is_posted)
    }

    fn fail(&mut self, id: &str, words: &str) -> &mut Failure {
        tracing::warn!(
            agent.id = %self.caller.agent,
            "an entry could not be posted to agent {}: {words}", self.caller.agent
        );
        self.entries.remove(id);
        self.failure.get_or_insert_default()
    }

    /// Records the result of a send. The last result of an answer acknowledges its entry.
    fn record_result(&mut self, request_id: &RequestId, result: AttemptResult) {
        let found = self.entries.iter_mut().find_map(|(id, entry)| match &mut entry.state {
            PostState::Answering(sends) => {
                sends.record(request_id, result).map(|step| (id.clone(), step))
            }
            PostState::Posted | PostState::Later(_) | PostState::Acknowledged => None,
        });
        match found {
            Some((id, AnswerStep::Finish)) => self.settle(&id),
            Some((_, AnswerStep::Repeat(send, pause))) => self.repeats.push(Box::pin(async move {
                sleep(pause).await;
                send
            })),
            Some((_, AnswerStep::Wait)) | None => {}
        }
    }

    /// Makes a send of an answer again, unless the agent has acknowledged the entry itself.
    fn repeat(&mut self, send: Box<Outbound>) {
        let is_wanted = self.entries.values().any(|entry| match &entry.state {
            PostState::Answering(sends) => sends.awaits(&send.request_id),
            PostState::Posted | PostState::Later(_) | PostState::Acknowledged => false,
        });
        if is_wanted {
            let frame = FromGateway::Outbound(send);
            self.events.push_back(TransportEvent::Frame(Box::new(frame)));
        }
    }

    /// Acknowledges an entry.
    fn settle(&mut self, id: &str) {
        let frame = FromGateway::InboundAck { buffer_id: id.to_owned() };
        self.acknowledge(id);
        self.events.push_back(TransportEvent::Frame(Box::new(frame)));
    }

    /// Records that the agent acknowledged an entry, possibly before its post on this line.
    fn acknowledge(&mut self, id: &str) {
        self.waiting.retain(|entry| entry.id != id);
        if let Some(entry) = self.entries.get_mut(id) {
            entry.state = PostState::Acknowledged;
            // The post may still wait for the database, a rate limit or a connection.
            entry.withdrawn.store(true, Ordering::Release);
        }
        self.release();
    }

    /// Lets the next entry of each chat be posted whose last one is done.
    fn release(&mut self) {
        let is_done =
            |entry: &PostedEntry| entry.is_stored && matches!(entry.state, PostState::Acknowledged);
        self.entries.retain(|_, entry| !is_done(entry));
        self.start_posts();
    }

    /// Passes a request of the agent to the session. A repeat of a send that is under way waits for its result in the
    /// place of the earlier request.
    fn take_request(&mut self, request: AgentRequest) {
        self.used_at = Instant::now();
        let frame = match request {
            AgentRequest::Frame(frame) => {
                if let FromGateway::InboundAck { buffer_id } = &frame {
                    self.acknowledge(buffer_id);
                }
                frame
            }
            AgentRequest::Send { outbound, tell } => {
                if self.asked.insert(outbound.request_id.clone(), tell).is_some() {
                    return;
                }
                FromGateway::Outbound(outbound)
            }
        };
        self.events.push_back(TransportEvent::Frame(Box::new(frame)));
    }

    /// Fails the entries whose acks did not come in time.
    fn expire(&mut self, now: Instant) {
        let late = |entry: &PostedEntry| matches!(entry.state, PostState::Later(by) if by <= now);
        let late: Vec<String> = self
            .entries
            .iter()
            .filter(|(_, entry)| late(entry))
            .map(|(id, _)| id.clone())
            .collect();
        for id in late {
            self.fail(&id, "it took the entry and did not acknowledge it in time")
                .tried
                .extend(id.parse::<EntryId>().ok());
        }
    }

    /// Returns the time at which something is to be done without an event. `None`: only a post or a result is awaited,
    /// and each of them comes by itself.
    fn deadline(&self) -> Option<Instant> {
        if self.entries.is_empty() && self.is_quiet() {
            return Some(self.used_at + WEBHOOK_REST);
        }
        let acks = self.entries.values().filter_map(|entry| match entry.state {
            PostState::Later(by) => Some(by),
            PostState::Posted | PostState::Answering(_) | PostState::Acknowledged => None,
        });
        acks.min()
    }

    /// Returns true if no post, no order to stop and no send is under way.
    fn is_quiet(&self) -> bool {
        self.posts.is_empty() && self.stops.is_empty() && self.asked.is_empty()
    }

    /// Ends the line if nothing is under way: because of a failure, or because no entry came for a while.
    fn end_if_settled(&mut self, now: Instant) {
        if !self.entries.is_empty() || !self.is_quiet() || !self.events.is_empty() {
            return;
        }
        if let Some(Failure { tried }) = self.failure.take() {
            self.events.push_back(TransportEvent::Undelivered(tried));
        } else if self.waiting.is_empty() && now >= self.used_at + WEBHOOK_REST {
            self.used_at = now;
            self.events.push_back(TransportEvent::Frame(Box::new(FromGateway::GoingIdle)));
            self.events.push_back(TransportEvent::Ended(Close::Done.code()));
        }
    }
}

fn attempt_result(frame: &Frame) -> AttemptResult {
    match frame.outcome() {
        Some(outcome) if outcome.is_unrecorded() => AttemptResult::Unrecorded,
        Some(outcome) if outcome.is_temporary() => AttemptResult::Failed,
        _ => AttemptResult::Final,
    }
}

impl LineTransport for PostTransport {
    fn kind(&self) -> Transport {
        KIND
    }

    async fn next_event(&mut self) -> TransportEvent {
        loop {
            self.end_if_settled(Instant::now());
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            let deadline = self.deadline();
            tokio::select! {
                Some(end) = self.posts.next(), if !self.posts.is_empty() => self.handle_end(end),
                ended = self.stops.next_end() => {
                    self.used_at = Instant::now();
                    self.events.extend(ended);
                }
                Some(send) = self.repeats.next(), if !self.repeats.is_empty() => self.repeat(send),
                Some(request) = self.from_agent.recv() => self.take_request(request),
                () = sleep_until(deadline.unwrap_or(self.used_at)), if deadline.is_some() => {
                    self.expire(Instant::now());
                }
            }
        }
    }

    async fn feed_frame(&mut self, frame: Frame) -> Result<(), TransportBroken> {
        self.used_at = Instant::now();
        match frame.head() {
            FrameHead::Entry { buffer_id } => {
                let frame = frame.into_string();
                let place = AnswerPlace::of_frame(&frame);
                let entry = WaitingEntry { id: buffer_id, frame, place, is_stored: false };
                self.waiting.push_back(entry);
            }
            FrameHead::Result { request_id } => {
                self.record_result(&request_id, attempt_result(&frame));
                if let Some(tell) = self.asked.remove(&request_id) {
                    // The request may have gone.
                    drop(tell.send(frame));
                }
            }
            FrameHead::Stop { stop_id } => self.stops.begin(stop_id, &frame),
            FrameHead::Descriptor | FrameHead::Other => {}
        }
        Ok(())
    }

    fn note_stored(&mut self, range: AckRange) {
        let seqs = range.from..=range.to;
        let is_in = |id: &str| id.parse().is_ok_and(|entry: EntryId| seqs.contains(&entry.seq));
        for (_, entry) in self.entries.iter_mut().filter(|(id, _)| is_in(id)) {
            entry.is_stored = true;
        }
        for entry in self.waiting.iter_mut().filter(|entry| is_in(&entry.id)) {
            entry.is_stored = true;
        }
        self.release();
    }

    async fn feed_ping(&mut self) -> Result<(), TransportBroken> {
        self.events.push_back(TransportEvent::Called);
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), TransportBroken> {
        self.start_posts();
        Ok(())
    }

    async fn close(&mut self, _: Close) -> Result<(), TransportBroken> {
        Ok(())
    }

    async fn linger(&mut self) {}
}

#[cfg(test)]
mod tests;

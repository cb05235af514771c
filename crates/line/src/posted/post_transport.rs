//! The transport of a posted line: frames become requests to the agent's URL, and responses become frames.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::{FrameHead, Outbound};
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{LINE_REQUESTS_MAX, TURN_MAX, WEBHOOK_REST};
use nightdesk_types::{EntryId, RequestId, Transport};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::answer::{AnswerPlace, PostAnswer};
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
}

/// An entry that was posted.
#[derive(Debug)]
struct PostedEntry {
    place: AnswerPlace,
    state: PostState,
}

#[derive(Debug)]
enum PostState {
    /// The response is outstanding.
    Posted,
    /// The answer is being sent; these results are outstanding.
    Answering(HashSet<RequestId>),
    /// The agent acknowledges the entry before this time.
    Later(Instant),
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
            poster,
            from_agent,
            waiting: VecDeque::new(),
            entries: HashMap::new(),
            posts: FuturesUnordered::new(),
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
            let WaitingEntry { id, frame, place } = entry;
            self.entries.insert(id.clone(), PostedEntry { place, state: PostState::Posted });
            self.post(id, &frame);
        }
    }

    fn is_busy(&self, place: &AnswerPlace) -> bool {
        self.entries.values().any(|entry| entry.place.chat_id == place.chat_id)
    }

    fn post(&self, id: String, frame: &str) {
        let AuthenticatedGateway { scope, agent, .. } = self.caller;
        let poster = Arc::clone(&self.poster);
        let post = AgentPost { scope, agent, id: id.clone(), body: frame.trim_end().to_owned() };
        self.posts.push(Box::pin(async move { PostEnd { id, outcome: poster.post(post).await } }));
    }

    fn handle_end(&mut self, end: PostEnd) {
        let PostEnd { id, outcome } = end;
        self.used_at = Instant::now();
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
        let Some(entry) = self.entries.get_mut(id) else { return };
        let sends = entry.place.sends(id, answer);
        if sends.is_empty() {
            return self.settle(id);
        }
        entry.state =
            PostState::Answering(sends.iter().map(|send| send.request_id.clone()).collect());
        for send in sends {
            let frame = FromGateway::Outbound(Box::new(send));
            self.events.push_back(TransportEvent::Frame(Box::new(frame)));
        }
    }

    fn wait_for_ack(&mut self, id: &str) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.state = PostState::Later(Instant::now() + TURN_MAX);
        }
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
    fn record_result(&mut self, request_id: &RequestId) {
        let answered = self.entries.iter_mut().find_map(|(id, entry)| match &mut entry.state {
            PostState::Answering(open) => {
                (open.remove(request_id) && open.is_empty()).then(|| id.clone())
            }
            PostState::Posted | PostState::Later(_) => None,
        });
        if let Some(id) = answered {
            self.settle(&id);
        }
    }

    /// Acknowledges an entry.
    fn settle(&mut self, id: &str) {
        let frame = FromGateway::InboundAck { buffer_id: id.to_owned() };
        self.release(id);
        self.events.push_back(TransportEvent::Frame(Box::new(frame)));
    }

    /// Lets the next entry of the chat be posted.
    fn release(&mut self, id: &str) {
        self.entries.remove(id);
        self.start_posts();
    }

    /// Passes a request of the agent to the session.
    fn take_request(&mut self, request: AgentRequest) -> TransportEvent {
        self.used_at = Instant::now();
        let frame = match request {
            AgentRequest::Frame(frame) => {
                if let FromGateway::InboundAck { buffer_id } = &frame {
                    self.release(buffer_id);
                }
                frame
            }
            AgentRequest::Send { outbound, tell } => {
                // A repeat of the request id takes the place of the earlier request.
                self.asked.insert(outbound.request_id.clone(), tell);
                FromGateway::Outbound(outbound)
            }
        };
        TransportEvent::Frame(Box::new(frame))
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

    /// Returns the time at which something is to be done without an event. `None`: only a post or a result is awaited, and
    /// each of them comes by itself.
    fn deadline(&self) -> Option<Instant> {
        if self.entries.is_empty() && self.posts.is_empty() && self.asked.is_empty() {
            return Some(self.used_at + WEBHOOK_REST);
        }
        let acks = self.entries.values().filter_map(|entry| match entry.state {
            PostState::Later(by) => Some(by),
            PostState::Posted | PostState::Answering(_) => None,
        });
        acks.min()
    }

    /// Ends the line if nothing is under way: because of a failure, or because no entry came for a while.
    fn end_if_settled(&mut self, now: Instant) {
        let is_idle = self.entries.is_empty() && self.posts.is_empty() && self.asked.is_empty();
        if !is_idle || !self.events.is_empty() {
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
                Some(request) = self.from_agent.recv() => return self.take_request(request),
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
                self.waiting.push_back(WaitingEntry { id: buffer_id, frame, place });
            }
            FrameHead::Result { request_id } => {
                self.record_result(&request_id);
                if let Some(tell) = self.asked.remove(&request_id) {
                    // The request may have gone.
                    drop(tell.send(frame));
                }
            }
            FrameHead::Stop | FrameHead::Descriptor | FrameHead::Other => {}
        }
        Ok(())
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
mod tests {
    use async_trait::async_trait;
    use nightdesk_protocol::action::Action;
    use nightdesk_protocol::outcome::Outcome;
    use nightdesk_types::{AgentId, GatewayId, Incarnation, Seq, TenantId, TenantScope};
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;

    /// An agent that does not answer.
    struct Silent;

    #[async_trait]
    impl AgentPoster for Silent {
        async fn post(&self, _: AgentPost) -> PostOutcome {
            std::future::pending().await
        }
    }

    fn posted() -> (mpsc::Sender<AgentRequest>, PostTransport) {
        let caller = AuthenticatedGateway {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
            agent: AgentId::from_uuid(Uuid::nil()),
            gateway: GatewayId::from_uuid(Uuid::nil()),
            acks: true,
        };
        PostTransport::new(caller, Arc::new(Silent))
    }

    fn entry() -> Frame {
        let agent = AgentId::from_uuid(Uuid::nil());
        let id = EntryId { agent, incarnation: Incarnation::new(1), seq: Seq::new(1) };
        let json = br#"{"type":"inbound","event":{}}"#.to_vec();
        Frame::entry(id, &nightdesk_protocol::EntryJson::from_stored(json).expect("an entry"))
    }

    /// Waits longer than an idle line stays open. The clock moves only while every task sleeps, so a loop that does not
    /// sleep hangs here.
    async fn expect_nothing(line: &mut PostTransport) {
        let long = WEBHOOK_REST * 10;
        assert!(timeout(long, line.next_event()).await.is_err(), "something happened");
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_post_is_awaited_without_work() {
        let (_agent, mut line) = posted();
        line.feed_frame(entry()).await.expect("there is room");
        line.flush().await.expect("it is posted");

        expect_nothing(&mut line).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_post_is_awaited_after_its_entry_was_acknowledged() {
        let (agent, mut line) = posted();
        line.feed_frame(entry()).await.expect("there is room");
        line.flush().await.expect("it is posted");
        let FrameHead::Entry { buffer_id } = entry().head() else { panic!("it is an entry") };
        let ack = FromGateway::InboundAck { buffer_id };
        agent.send(AgentRequest::Frame(ack)).await.expect("the line is open");
        assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "the ack passes");

        expect_nothing(&mut line).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_without_entries_goes_idle() {
        let (_agent, mut line) = posted();

        let first = timeout(WEBHOOK_REST * 2, line.next_event()).await.expect("it ends");
        assert!(matches!(first, TransportEvent::Frame(_)), "{first:?}");
        let then = line.next_event().await;
        assert!(matches!(then, TransportEvent::Ended(1000)), "{then:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_stays_until_the_result_of_a_request_came() {
        let (agent, mut line) = posted();
        let frame =
            r#"{"type":"outbound","requestId":"r1","action":{"op":"typing","chat_id":"c1"}}"#;
        let FromGateway::Outbound(outbound) = FromGateway::decode(frame.as_bytes()) else {
            panic!("it is an action")
        };
        let (request_id, (tell, told)) = (outbound.request_id.clone(), oneshot::channel());
        agent.send(AgentRequest::Send { outbound, tell }).await.expect("the line is open");
        assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "the action passes");
        expect_nothing(&mut line).await;

        let result = Frame::outbound_result(&request_id, &Outcome::delivered(None));
        line.feed_frame(result.clone()).await.expect("there is room");
        assert_eq!(told.await, Ok(result));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_ends_drops_the_requests_that_wait() {
        let (agent, line) = posted();
        let (tell, told) = oneshot::channel();
        let outbound = Outbound {
            request_id: RequestId::new("r1".to_owned()).expect("an id"),
            action: Action::Unknown { op: "dance".to_owned() },
            platform: None,
            bot_handle: None,
        };
        let send = AgentRequest::Send { outbound: Box::new(outbound), tell };
        agent.send(send).await.expect("the line is open");
        drop(line);
        assert!(told.await.is_err());
    }
}

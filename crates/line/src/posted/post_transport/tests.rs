use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_protocol::action::Action;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::{AgentId, GatewayId, Incarnation, Seq, TenantId, TenantScope, Timestamp};
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

/// An agent that handles every entry at once, and counts the posts.
#[derive(Default)]
struct Busy(AtomicUsize);

#[async_trait]
impl AgentPoster for Busy {
    async fn post(&self, _: AgentPost) -> PostOutcome {
        self.0.fetch_add(1, Ordering::Relaxed);
        PostOutcome::Handled(PostAnswer::default())
    }
}

/// An agent to which a connection takes a minute. It counts the posts that begin.
#[derive(Default)]
struct Distant(AtomicUsize);

#[async_trait]
impl AgentPoster for Distant {
    async fn post(&self, post: AgentPost) -> PostOutcome {
        sleep(Duration::from_mins(1)).await;
        if post.withdrawn.load(Ordering::Acquire) {
            return PostOutcome::Unreachable("the post was withdrawn".to_owned());
        }
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }
}

/// An agent that answers every entry with a text.
struct Polite;

#[async_trait]
impl AgentPoster for Polite {
    async fn post(&self, _: AgentPost) -> PostOutcome {
        let text = Some("hello".to_owned());
        PostOutcome::Handled(PostAnswer { text, ..PostAnswer::default() })
    }
}

fn posted() -> (mpsc::Sender<AgentRequest>, PostTransport) {
    posted_by(Arc::new(Silent))
}

fn posted_by(poster: Arc<dyn AgentPoster>) -> (mpsc::Sender<AgentRequest>, PostTransport) {
    let caller = AuthenticatedGateway {
        scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
        agent: AgentId::from_uuid(Uuid::nil()),
        gateway: GatewayId::from_uuid(Uuid::nil()),
        acks: true,
    };
    PostTransport::new(caller, poster)
}

fn entry() -> Frame {
    entry_of(1)
}

fn entry_of(seq: i64) -> Frame {
    let agent = AgentId::from_uuid(Uuid::nil());
    let id = EntryId { agent, incarnation: Incarnation::new(1), seq: Seq::new(seq) };
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

fn stored(seq: i64) -> AckRange {
    let (from, to) = (Seq::new(seq), Seq::new(seq));
    AckRange { from, to, at: Timestamp::UNIX_EPOCH, handed_at: Timestamp::UNIX_EPOCH }
}

#[tokio::test(start_paused = true)]
async fn an_entry_is_posted_once_the_ack_of_the_one_before_is_stored() {
    let agent = Arc::new(Busy::default());
    let (_requests, mut line) = posted_by(Arc::<Busy>::clone(&agent));
    for seq in [1, 2] {
        line.feed_frame(entry_of(seq)).await.expect("there is room");
    }
    line.flush().await.expect("the first is posted");
    assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "it is acknowledged");

    expect_nothing(&mut line).await;
    assert_eq!(agent.0.load(Ordering::Relaxed), 1, "another node may have posted the second");
    line.note_stored(stored(1));
    assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "so is the second");
    assert_eq!(agent.0.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_was_acknowledged_before_its_post_is_not_posted() {
    let agent = Arc::new(Busy::default());
    let (requests, mut line) = posted_by(Arc::<Busy>::clone(&agent));
    line.feed_frame(entry()).await.expect("there is room");
    let FrameHead::Entry { buffer_id } = entry().head() else { panic!("it is an entry") };
    let ack = FromGateway::InboundAck { buffer_id };
    requests.send(AgentRequest::Frame(ack)).await.expect("the line is open");
    assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "the ack passes");
    line.note_stored(stored(1));
    line.flush().await.expect("nothing is posted");

    assert_eq!(agent.0.load(Ordering::Relaxed), 0);
    assert!(line.waiting.is_empty() && line.entries.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_is_acknowledged_before_its_post_begins_is_not_posted() {
    let agent = Arc::new(Distant::default());
    let (requests, mut line) = posted_by(Arc::<Distant>::clone(&agent));
    line.feed_frame(entry()).await.expect("there is room");
    line.flush().await.expect("its post waits for a connection");
    let FrameHead::Entry { buffer_id } = entry().head() else { panic!("it is an entry") };
    let ack = FromGateway::InboundAck { buffer_id };
    requests.send(AgentRequest::Frame(ack)).await.expect("the line is open");
    assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "the ack passes");
    line.note_stored(stored(1));

    let idle = line.next_event().await;
    assert!(matches!(idle, TransportEvent::Frame(_)), "it goes idle, without a failure: {idle:?}");
    assert_eq!(agent.0.load(Ordering::Relaxed), 0);
}

/// Returns the next frame for the session.
async fn next_frame(line: &mut PostTransport) -> FromGateway {
    let event = line.next_event().await;
    let TransportEvent::Frame(frame) = event else { panic!("{event:?}") };
    *frame
}

/// Posts an entry to an agent that answers it. Returns the line and the id of the answer's send.
async fn answered() -> (mpsc::Sender<AgentRequest>, PostTransport, RequestId) {
    let (requests, mut line) = posted_by(Arc::new(Polite));
    line.feed_frame(entry()).await.expect("there is room");
    line.flush().await.expect("it is posted");
    let send = next_send(&mut line).await;
    (requests, line, send)
}

async fn expect_ack(line: &mut PostTransport) {
    let ack = next_frame(line).await;
    assert!(matches!(ack, FromGateway::InboundAck { .. }), "{ack:?}");
}

async fn next_send(line: &mut PostTransport) -> RequestId {
    let frame = next_frame(line).await;
    let FromGateway::Outbound(send) = frame else { panic!("{frame:?}") };
    send.request_id
}

#[tokio::test(start_paused = true)]
async fn a_send_of_an_answer_that_fails_for_now_is_made_again() {
    let (_requests, mut line, first) = answered().await;
    let busy = Outcome::failed("network busy behind the desk; nothing was sent");
    line.feed_frame(Frame::outbound_result(&first, &busy)).await.expect("there is room");
    let second = next_send(&mut line).await;
    assert_ne!(second, first, "the first one's failure is stored under its id");
    let sent = Outcome::delivered(None);
    line.feed_frame(Frame::outbound_result(&second, &sent)).await.expect("there is room");
    expect_ack(&mut line).await;
}

#[tokio::test(start_paused = true)]
async fn a_send_of_an_answer_that_is_refused_is_not_made_again() {
    let (_requests, mut line, send) = answered().await;
    let refused = Outcome::refused("discord", "never addressed there");
    line.feed_frame(Frame::outbound_result(&send, &refused)).await.expect("there is room");
    expect_ack(&mut line).await;
}

#[tokio::test(start_paused = true)]
async fn a_line_without_entries_goes_idle() {
    let (_agent, mut line) = posted();

    let first = timeout(WEBHOOK_REST * 2, line.next_event()).await.expect("it ends");
    assert!(matches!(first, TransportEvent::Frame(_)), "{first:?}");
    let then = line.next_event().await;
    assert!(matches!(then, TransportEvent::Ended(1000)), "{then:?}");
}

/// Sends an action of the agent, with the request id `r1`.
async fn ask(agent: &mpsc::Sender<AgentRequest>) -> oneshot::Receiver<Frame> {
    let (tell, told) = oneshot::channel();
    let outbound = Outbound {
        request_id: r1(),
        action: Action::Unknown { op: "dance".to_owned() },
        platform: None,
        bot_handle: None,
    };
    let send = AgentRequest::Send { outbound: Box::new(outbound), tell };
    agent.send(send).await.expect("the line is open");
    told
}

fn r1() -> RequestId {
    RequestId::new("r1".to_owned()).expect("an id")
}

#[tokio::test(start_paused = true)]
async fn a_line_stays_until_the_result_of_a_request_came() {
    let (agent, mut line) = posted();
    let told = ask(&agent).await;
    assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "the action passes");
    expect_nothing(&mut line).await;

    let result = Frame::outbound_result(&r1(), &Outcome::delivered(None));
    line.feed_frame(result.clone()).await.expect("there is room");
    assert_eq!(told.await, Ok(result));
}

#[tokio::test(start_paused = true)]
async fn a_line_that_ends_drops_the_requests_that_wait() {
    let (agent, line) = posted();
    let told = ask(&agent).await;
    drop(line);
    assert!(told.await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_repeated_request_gets_the_result_of_the_one_under_way() {
    let (agent, mut line) = posted();
    let first = ask(&agent).await;
    assert!(matches!(line.next_event().await, TransportEvent::Frame(_)), "the action passes");
    let repeat = ask(&agent).await;
    expect_nothing(&mut line).await;

    let result = Frame::outbound_result(&r1(), &Outcome::delivered(None));
    line.feed_frame(result.clone()).await.expect("there is room");
    assert!(first.await.is_err(), "the repeat took its place");
    assert_eq!(repeat.await, Ok(result));
}

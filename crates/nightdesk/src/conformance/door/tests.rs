use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::conformance::facts::SignalFate;
use crate::conformance::wire::http::read_head;
use crate::conformance::wire::websocket::{WsEnd, WsFrame};

/// A door, and the desk behind it.
struct Doorway {
    door: DeskDoor,
    notebook: Arc<TrialNotebook>,
    desk: TcpListener,
}

async fn open(rules: &[FaultRule]) -> Doorway {
    let desk = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = desk.local_addr().unwrap();
    let notebook = Arc::new(TrialNotebook::new());
    let door = DeskDoor::open(address, &notebook, rules, &TaskTracker::new()).await.unwrap();
    Doorway { door, notebook, desk }
}

impl Doorway {
    async fn accept(&self) -> BufReader<TcpStream> {
        BufReader::new(self.desk.accept().await.unwrap().0)
    }

    /// Answers one request, and returns it.
    async fn serve(&self, response: &PlainHttp) -> PlainHttp {
        let mut stream = self.accept().await;
        let request = PlainHttp::read_request(&mut stream).await.unwrap().unwrap();
        response.write_response(&mut stream).await.unwrap();
        request
    }

    fn facts(&self) -> Vec<TrialFact> {
        self.notebook.facts().into_iter().map(|timed| timed.fact).collect()
    }
}

fn call(route: &str, body: &Value) -> PlainHttp {
    PlainHttp::new(format!("POST /v1/line/{route} HTTP/1.1"), body.to_string().as_bytes())
}

fn ack_fact(fate: SignalFate) -> TrialFact {
    TrialFact::Ack { entry: "e1".to_owned(), fate }
}

fn entry() -> Value {
    json!({ "type": "inbound", "event": { "text": "hi" }, "bufferId": "e1" })
}

#[tokio::test]
async fn a_swallowed_ack_reaches_the_desk_without_its_entries() {
    let rules = [FaultRule::one(SignalKind::Ack, 1, FaultAction::Swallow)];
    let doorway = open(&rules).await;
    let ack = call("ack", &json!({ "line": "L", "buffer_ids": ["e1"] }));
    let done = PlainHttp::new("HTTP/1.1 204 No Content", &[]);

    let (response, request) = tokio::join!(ack.call(doorway.door.address), doorway.serve(&done));
    assert_eq!(response.unwrap().status(), 204);
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body, json!({ "line": "L", "buffer_ids": [] }));
    assert_eq!(doorway.facts(), [ack_fact(SignalFate::Withheld)]);

    let (_, request) = tokio::join!(ack.call(doorway.door.address), doorway.serve(&done));
    assert_eq!(request.body, ack.body, "the second ack passes");
}

#[tokio::test]
async fn a_send_before_which_the_connection_is_cut_has_no_response() {
    let rules = [FaultRule::one(SignalKind::Send, 1, FaultAction::CutBefore)];
    let doorway = open(&rules).await;
    let send = call("send", &json!({ "line": "L", "request_id": "r", "action": {} }));

    assert!(send.call(doorway.door.address).await.is_err());
    assert_eq!(doorway.facts(), [TrialFact::Cut]);
}

#[tokio::test]
async fn an_entry_that_comes_again_follows_its_ack() {
    let rules = [FaultRule::one(SignalKind::Entry, 1, FaultAction::Again)];
    let doorway = open(&rules).await;
    let take = call("take", &json!({ "line": "L" }));
    let ack = call("ack", &json!({ "line": "L", "buffer_ids": ["e1"] }));
    let taken = |frames: Value| {
        let body = json!({ "line": "L", "frames": frames }).to_string();
        PlainHttp::new("HTTP/1.1 200 OK", body.as_bytes())
    };
    let read = |response: io::Result<PlainHttp>| -> Value {
        serde_json::from_slice(&response.unwrap().body).unwrap()
    };
    let address = doorway.door.address;

    let (full, empty) = (taken(json!([entry()])), taken(json!([])));
    let (first, _) = tokio::join!(take.call(address), doorway.serve(&full));
    assert_eq!(read(first)["frames"], json!([entry()]));
    let (before, _) = tokio::join!(take.call(address), doorway.serve(&empty));
    assert_eq!(read(before)["frames"], json!([]));
    let (acked, _) = tokio::join!(ack.call(address), doorway.serve(&empty));
    assert!(acked.unwrap().is_success());
    let (again, _) = tokio::join!(take.call(address), doorway.serve(&empty));
    assert_eq!(read(again)["frames"], json!([entry()]));
}

#[tokio::test]
async fn a_line_gets_an_entry_twice_and_ends_before_its_ack() {
    let rules = [
        FaultRule::one(SignalKind::Entry, 1, FaultAction::Twice),
        FaultRule::one(SignalKind::Ack, 1, FaultAction::CutBefore),
    ];
    let doorway = open(&rules).await;
    let dial = PlainHttp::new("GET /relay HTTP/1.1", &[]).with_header("Upgrade", "websocket");
    let mut client = BufReader::new(TcpStream::connect(doorway.door.address).await.unwrap());
    client.write_all(&dial.head_bytes()).await.unwrap();
    let mut desk = doorway.accept().await;
    assert!(read_head(&mut desk).await.unwrap().unwrap().is_upgrade());
    let switching = PlainHttp::new("HTTP/1.1 101 Switching Protocols", &[]);
    desk.write_all(&switching.head_bytes()).await.unwrap();
    assert_eq!(read_head(&mut client).await.unwrap().unwrap().status(), 101);

    let frame = WsFrame::text(format!("{}\n", entry()).as_bytes()).to_bytes(WsEnd::Server);
    desk.write_all(&frame).await.unwrap();
    let mut received = vec![0; 2 * frame.len()];
    client.read_exact(&mut received).await.unwrap();
    assert_eq!(received, frame.repeat(2));

    let ack = WsFrame::text(b"{\"type\":\"inbound_ack\",\"bufferId\":\"e1\"}\n");
    client.write_all(&ack.to_bytes(WsEnd::Client)).await.unwrap();
    assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
    assert_eq!(desk.read(&mut [0; 1]).await.unwrap(), 0);
    let delivery = TrialFact::Delivery { entry: "e1".to_owned(), token: None };
    let end = [ack_fact(SignalFate::Withheld), TrialFact::Cut];
    let facts = [TrialFact::Dial, delivery.clone(), delivery].into_iter().chain(end);
    assert_eq!(doorway.facts(), facts.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_busy_desk_takes_no_line() {
    let doorway = open(&[FaultRule::each(SignalKind::Dial, FaultAction::Refuse)]).await;
    let dial = PlainHttp::new("GET /relay HTTP/1.1", &[]).with_header("Upgrade", "websocket");

    let response = dial.call(doorway.door.address).await.unwrap();
    assert_eq!((response.status(), response.header("retry-after")), (503, Some("1")));
    let take = call("take", &json!({}));
    assert_eq!(take.call(doorway.door.address).await.unwrap().status(), 503);
    doorway.door.end_faults();
    assert_eq!(doorway.facts(), [TrialFact::Dial, TrialFact::Dial]);
}

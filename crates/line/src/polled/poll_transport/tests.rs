use nightdesk_protocol::action::Action;
use nightdesk_protocol::outcome::Outcome;
use uuid::Uuid;

use super::*;

fn line() -> (Arc<PolledLine>, PollTransport) {
    PollTransport::new(AgentId::from_uuid(Uuid::nil()), Transport::Polling)
}

fn request(id: &str) -> Outbound {
    Outbound {
        request_id: RequestId::new(id.to_owned()).expect("an id"),
        action: Action::Unknown { op: "dance".to_owned() },
        platform: None,
        bot_handle: None,
    }
}

fn result(id: &str) -> Frame {
    Frame::outbound_result(&request(id).request_id, &Outcome::delivered(None))
}

#[tokio::test]
async fn a_repeated_request_gets_the_result_of_the_one_under_way() {
    let (line, mut transport) = line();
    let first = line.begin_send(request("r1")).expect("the line is open");
    let repeat = line.begin_send(request("r1")).expect("the line is open");
    let other = line.begin_send(request("r2")).expect("the line is open");

    for id in ["r1", "r2"] {
        let event = transport.next_event().await;
        let TransportEvent::Frame(frame) = event else { panic!("an action passes") };
        let FromGateway::Outbound(outbound) = *frame else { panic!("it is an action") };
        assert_eq!(outbound.request_id.as_str(), id, "the session gets each action once");
        transport.feed_frame(result(id)).await.expect("there is room");
    }
    assert!(first.await.is_err(), "the repeat took its place");
    assert_eq!((repeat.await, other.await), (Ok(result("r1")), Ok(result("r2"))));

    let later = line.begin_send(request("r1")).expect("the line is open");
    assert!(matches!(transport.next_event().await, TransportEvent::Frame(_)), "none is under way");
    drop(later);
}

#[tokio::test]
async fn a_request_to_a_line_that_ended_is_gone() {
    let (line, mut transport) = line();
    let waiting = line.begin_send(request("r1")).expect("the line is open");
    transport.close(Close::Done).await.expect("it is in memory");

    assert!(waiting.await.is_err());
    let late = line.begin_send(request("r2")).err();
    assert_eq!(late, Some(PollError::Gone(Some(Close::Done))));
}

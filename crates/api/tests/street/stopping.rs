//! A node that stops, as gateways and visitors see it.

use std::time::Duration;

use nightdesk_testdesk::{Browser, Heard, PageAccess, TestDesk};
use nightdesk_types::limits::LEAVE_WAIT;

/// Shorter than a line's wait for a missing ack, and longer than a busy machine takes.
const SOON: Duration = Duration::from_secs(4);

const _: () = assert!(SOON.as_secs() < LEAVE_WAIT.as_secs(), "soon is before anybody gives up");

#[tokio::test]
async fn a_line_is_let_go_when_its_entry_is_acked() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    desk.says(&ann, "ann", "k1").await;
    let entry = gateway.hear_frame("inbound").await;

    let agent = async {
        // The node stops meanwhile; the line is still there for the ack.
        assert_eq!(gateway.hear_within(Duration::from_millis(300)).await, Heard::Nothing);
        gateway.ack(&entry["bufferId"]).await;
        gateway.hear().await
    };
    let (took, heard) = tokio::join!(desk.stop(), agent);
    assert_eq!(heard, Heard::Closed(1012));
    assert!(took < SOON, "{took:?}");
    assert_eq!(desk.acked(&ann).await, 1, "its last ack counts");
}

#[tokio::test]
async fn an_open_page_does_not_hold_a_node_up() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (_, path) = desk.page(&ann, PageAccess::Anyone).await;
    let browser = Browser::open(desk.address(), &path).await;
    let mut stream = browser.listens(0).await.expect("open");

    let (took, ended) = tokio::join!(desk.stop(), stream.hear("line"));
    assert_eq!(ended, None, "the page is told nothing, and opens its stream elsewhere");
    assert!(took < SOON, "{took:?}");
}

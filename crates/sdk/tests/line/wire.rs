//! A desk, and a wire to it that can be cut.

use std::net::SocketAddr;
use std::sync::Arc;

use nightdesk_sdk::{Agent, Settings, Status};
use nightdesk_testdesk::{Household, TestDesk, TestPlatform};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// A desk with one household, reached over a wire.
pub(crate) struct Street {
    pub(crate) desk: TestDesk,
    pub(crate) ann: Household,
    pub(crate) platform: TestPlatform,
    pub(crate) wire: Wire,
}

impl Street {
    pub(crate) async fn open() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
        let wire = Wire::to(desk.address()).await;
        Self { desk, ann, platform, wire }
    }

    /// Returns settings of Ann's agent.
    pub(crate) fn settings(&self) -> Settings {
        let url = format!("http://{}", self.wire.address);
        let secret = self.ann.secret.with(str::to_owned);
        Settings::new(url, &self.ann.name, secret).speaking_for("discord", "bot-ann")
    }

    /// Sends a message of Ann.
    pub(crate) async fn says(&self, text: &str) {
        assert_eq!(self.desk.says(&self.ann, "ann", text).await, 200);
    }

    /// Returns the text of the next call to the platform.
    pub(crate) async fn answer(&mut self) -> String {
        loop {
            let call = self.platform.next().await;
            // "waking…" is the desk's own message and is skipped.
            if call["op"] == "send" {
                return call["content"].as_str().expect("a text").to_owned();
            }
        }
    }

    /// Returns the first unacked entry, after this message was sent.
    pub(crate) async fn oldest_unacked_after(&self, text: &str) -> String {
        let mut gateway = self.desk.dial(&self.ann).await;
        gateway.hello("discord").await;
        gateway.hear_frame("descriptor").await;
        self.says(text).await;
        let inbound = gateway.hear_frame("inbound").await;
        inbound["event"]["text"].as_str().expect("a text").to_owned()
    }
}

/// Waits until the line was lost and another is live.
pub(crate) async fn on_another_line(agent: &Agent) {
    agent.wait_until(|status| !matches!(status, Status::Live)).await;
    assert_eq!(agent.wait_until(|status| matches!(status, Status::Live)).await, Status::Live);
}

/// A wire that can be cut; the next dial gets a new one.
pub(crate) struct Wire {
    pub(crate) address: SocketAddr,
    cut: Arc<Notify>,
    /// Owns the task of the wire.
    _held: JoinSet<()>,
}

impl Wire {
    pub(crate) async fn to(desk: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let cut = Arc::new(Notify::new());
        let mut held = JoinSet::new();
        let scissors = Arc::clone(&cut);
        held.spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let mut far = TcpStream::connect(desk).await.expect("the desk listens");
                tokio::select! {
                    _ = copy_bidirectional(&mut near, &mut far) => {}
                    () = scissors.notified() => {}
                }
            }
        });
        Self { address, cut, _held: held }
    }

    /// Cuts the open line, without a close to either end.
    pub(crate) fn cut(&self) {
        self.cut.notify_one();
    }
}

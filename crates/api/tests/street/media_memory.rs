//! Files in memory: a send holds a small part of its file, and tenants share a node's memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use futures_util::{StreamExt, stream};
use nightdesk_desk::Adapters;
use nightdesk_media::{MediaLocation, MediaRecord};
use nightdesk_port::{
    Bot, CallRate, Deliver, DeliverError, FetchError, File, FileContent, Files, LengthUnit,
    Platform, PlatformCapabilities, Receipt, Receive, ReceiveError, RequestContent, SignedRequest,
};
use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::{Household, TestDesk, TestGateway};
use nightdesk_types::{GrantTarget, Send};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

const MIB: usize = 1024 * 1024;
const FILE_MIB: usize = 25;
const PATIENCE: Duration = Duration::from_secs(20);

/// Files of one tenant that a node sends at once.
const AT_ONCE: usize = 16;

/// The reference of a file that breaks off.
const BROKEN: &str = "broken";

/// A platform that has a file of 25 MiB, and takes uploads only when the test lets it.
struct SlowPlatform {
    /// Chunks of files that the desk has read.
    chunks_read: Arc<AtomicUsize>,
    /// Chunks that had been read when an upload began.
    chunks_at_upload: AtomicUsize,
    uploads: watch::Sender<usize>,
    is_open: watch::Sender<bool>,
}

impl SlowPlatform {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            chunks_read: Arc::default(),
            chunks_at_upload: AtomicUsize::default(),
            uploads: watch::Sender::new(0),
            is_open: watch::Sender::new(false),
        })
    }

    fn uploads(&self) -> usize {
        *self.uploads.borrow()
    }

    async fn wait_for_uploads(&self, count: usize) {
        let mut uploads = self.uploads.subscribe();
        let waited = timeout(PATIENCE, uploads.wait_for(|uploads| *uploads >= count)).await;
        waited.expect("the uploads begin in time").expect("the platform is there");
    }
}

#[async_trait]
impl Files for SlowPlatform {
    async fn fetch(&self, _: &Bot, reference: &str) -> Result<FileContent, FetchError> {
        if reference == BROKEN {
            let chunks = [Ok(Bytes::from_static(b"half")), Err("the connection broke".into())];
            return Ok(FileContent { size: None, bytes: stream::iter(chunks).boxed() });
        }
        let read = Arc::clone(&self.chunks_read);
        let chunks = stream::iter(0..FILE_MIB).map(move |_| {
            read.fetch_add(1, Ordering::SeqCst);
            Ok(Bytes::from(vec![7; MIB]))
        });
        Ok(FileContent { size: None, bytes: chunks.boxed() })
    }
}

#[async_trait]
impl Deliver for SlowPlatform {
    async fn deliver(&self, _: &Bot, _: &Send) -> Result<Receipt, DeliverError> {
        Ok(Receipt::default())
    }

    async fn upload(
        &self,
        _: &Bot,
        _: &Send,
        file: &File,
        _: &str,
    ) -> Result<Receipt, DeliverError> {
        self.chunks_at_upload.store(self.chunks_read.load(Ordering::SeqCst), Ordering::SeqCst);
        self.uploads.send_modify(|uploads| *uploads += 1);
        drop(self.is_open.subscribe().wait_for(|is_open| *is_open).await);
        let mut content = file.source.open().await?;
        while let Some(chunk) = content.bytes.next().await {
            // An HTTP client reports a body that breaks off as a request without a response.
            chunk.map_err(DeliverError::Ambiguous)?;
        }
        Ok(Receipt::default())
    }
}

impl Receive for SlowPlatform {
    fn receive(&self, _: &Bot, _: &SignedRequest<'_>) -> Result<RequestContent, ReceiveError> {
        Err(ReceiveError::Unreadable)
    }
}

impl Platform for SlowPlatform {
    fn capabilities(&self, _: &Bot) -> PlatformCapabilities {
        let pace = CallRate::per_second(1_000.try_into().expect("not zero"));
        PlatformCapabilities {
            label: "Slow".to_owned(),
            emoji: "🔌",
            is_pii_safe: false,
            message_length_max: 64,
            length_unit: LengthUnit::Chars,
            markdown_dialect: "plain".to_owned(),
            hint: String::new(),
            ops: vec!["send", "send_media"],
            threads: false,
            chat_pace: pace,
            bot_pace: pace,
        }
    }

    fn files(&self, _: &Bot) -> Option<&dyn Files> {
        Some(self)
    }
}

async fn open() -> (TestDesk, Arc<SlowPlatform>) {
    let platform = SlowPlatform::new();
    let adapter = Arc::<SlowPlatform>::clone(&platform) as Arc<dyn Platform>;
    let adapters = Adapters::from([("scripted".to_owned(), adapter)]);
    (TestDesk::open_with(adapters).await, platform)
}

/// An agent's gateway on a line.
struct Sender {
    gateway: TestGateway,
    household: Household,
}

impl Sender {
    /// Dials in for an agent that may write to so many chats.
    async fn on_a_line(desk: &TestDesk, household: Household, chats: usize) -> Self {
        let Household { scope, agent, bot, .. } = household;
        for chat in 0..chats {
            desk.grant(scope, agent, bot, &format!("c{chat}")).await;
        }
        let mut gateway = desk.dial(&household).await;
        gateway.hello("discord").await;
        gateway.hear_frame("descriptor").await;
        Self { gateway, household }
    }

    async fn in_own_tenant(desk: &TestDesk, name: &str, chats: usize) -> Self {
        let household = desk.household_with(name, &format!("gw-{name}"), json!({})).await;
        Self::on_a_line(desk, household, chats).await
    }

    /// Dials in for another agent of the same tenant and on the same bot.
    async fn sibling(&self, desk: &TestDesk, name: &str, chats: usize) -> Self {
        let household = self.household.clone();
        let agent = desk.register.store().create_agent(household.scope, name).await;
        let agent = agent.expect("enter an agent");
        let name = format!("gw-{name}");
        let entered = desk.register.create_gateway(household.scope, agent, &name).await;
        let (gateway, secret) = entered.expect("enter a gateway");
        let household = Household { agent, gateway, name, secret, ..household };
        Self::on_a_line(desk, household, chats).await
    }

    /// Returns the URL of a file that the agent was told of.
    async fn file_url(&self, desk: &TestDesk, reference: &str) -> String {
        let Household { scope, agent, bot, .. } = self.household;
        let location = MediaLocation::There { bot, reference: reference.to_owned() };
        let record = MediaRecord { mime: None, filename: None, size: Some(7), location };
        let urls = desk.desk.stops.media.register_files(&[(scope, agent)], vec![record]).await;
        urls.expect("register a file").remove(0)
    }

    async fn send_file(&mut self, desk: &TestDesk, chat: usize) {
        let url = self.file_url(desk, "file-1").await;
        self.send_url(chat, &url).await;
    }

    async fn send_url(&mut self, chat: usize, url: &str) {
        let action = json!({
            "op": "send_media", "chat_id": format!("c{chat}"), "media_kind": "document",
            "source_url": url, "content": "",
        });
        self.request(&format!("file-{chat}"), &action).await;
    }

    async fn request(&mut self, id: &str, action: &Value) {
        let frame = json!({ "type": "outbound", "requestId": id, "action": action });
        self.gateway.say(&frame).await;
    }

    async fn result(&mut self) -> Value {
        self.gateway.hear_frame("outbound_result").await["result"].clone()
    }
}

/// Sends so many files at once, and waits until each is uploaded or waits for memory.
async fn send_files(desk: &TestDesk, platform: &SlowPlatform, sender: &mut Sender, count: usize) {
    for chat in 0..count {
        sender.send_file(desk, chat).await;
    }
    let metrics = desk.desk.stops.media.metrics();
    let waiting = || usize::try_from(metrics.memory_waits()).expect("a count");
    let are_under_way = async {
        while platform.uploads() + waiting() < count {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, are_under_way).await.expect("every send calls or waits");
}

#[tokio::test]
async fn a_file_is_read_only_as_its_platform_takes_it() {
    let (desk, platform) = open().await;
    let mut ann = Sender::in_own_tenant(&desk, "ann", 1).await;
    ann.send_file(&desk, 0).await;
    platform.wait_for_uploads(1).await;

    assert_eq!(platform.chunks_at_upload.load(Ordering::SeqCst), 0, "MiB in memory");
    platform.is_open.send_replace(true);
    assert_eq!(ann.result().await["success"], true);
    assert_eq!(platform.chunks_read.load(Ordering::SeqCst), FILE_MIB, "the whole file was sent");
}

#[tokio::test]
async fn a_tenant_with_many_files_leaves_memory_to_others() {
    const SENDS: usize = AT_ONCE + 4;
    let (desk, platform) = open().await;
    let mut ann = Sender::in_own_tenant(&desk, "ann", SENDS).await;
    send_files(&desk, &platform, &mut ann, SENDS).await;
    assert_eq!(platform.uploads(), AT_ONCE, "the others wait for memory");

    let mut bob = Sender::in_own_tenant(&desk, "bob", 1).await;
    bob.send_file(&desk, 0).await;
    platform.wait_for_uploads(AT_ONCE + 1).await;
    platform.is_open.send_replace(true);
    assert_eq!(bob.result().await["success"], true);
    for _ in 0..SENDS {
        assert_eq!(ann.result().await["success"], true, "a wait is no failure");
    }
}

#[tokio::test]
async fn a_file_that_waits_for_memory_does_not_hold_up_its_chat() {
    let (desk, platform) = open().await;
    let mut ann = Sender::in_own_tenant(&desk, "ann", AT_ONCE).await;
    let mut eve = ann.sibling(&desk, "eve", AT_ONCE + 1).await;
    let mut pam = ann.sibling(&desk, "pam", 0).await;
    send_files(&desk, &platform, &mut ann, AT_ONCE).await;
    eve.send_file(&desk, AT_ONCE).await;
    let waits = desk.desk.stops.media.metrics();
    let waits = async {
        while waits.memory_waits() == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, waits).await.expect("the file waits");

    // A chat is granted to one agent, so the other one gets the grant while the file waits.
    let (chat, Household { scope, bot, .. }) = (format!("c{AT_ONCE}"), ann.household.clone());
    let eves = AgentOnBot { scope, agent: eve.household.agent, bot };
    let released = desk.register.store().release(eves, &GrantTarget::for_chat(None, &chat)).await;
    assert!(released.expect("release a grant"));
    desk.grant(scope, pam.household.agent, bot, &chat).await;
    let text = json!({ "op": "send", "chat_id": chat, "content": "hello" });
    pam.request("text", &text).await;
    let result = pam.result().await;
    assert_eq!(result["success"], true, "{result}");
    platform.is_open.send_replace(true);
    assert_eq!(eve.result().await["success"], true);
}

#[tokio::test]
async fn a_file_that_breaks_off_is_reported_as_not_sent() {
    let (desk, platform) = open().await;
    platform.is_open.send_replace(true);
    let mut ann = Sender::in_own_tenant(&desk, "ann", 1).await;
    let url = ann.file_url(&desk, BROKEN).await;
    ann.send_url(0, &url).await;

    let result = ann.result().await;
    let error = result["error"].as_str().unwrap_or_default();
    assert!(error.contains("network") && error.contains("nothing was sent"), "{result}");
}

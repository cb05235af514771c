//! Tests that messages are sealed in the database, and that a message which does not open stops no other.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_egress::{SendKey, SendResult, SendState, Store as _};
use nightdesk_gate::{AdmittedSend, BotTag, Gate, Sender};
use nightdesk_inbox::{
    Entry, InboxAdmin as _, LineClaim, LocalEntry, ParkOutcome, ParkReason, PutOutcome,
    QuarantinedEvent, ReadRequest, ReadResponse, Store as _,
};
use nightdesk_lease::{Resource, Store as _};
use nightdesk_letters::{
    LetterEntry, LetterStore as _, NewLetter, Party, Posting, PostingOutcome, ReplyOutcome, Route,
};
use nightdesk_line::{AuthenticatedGateway, LineStart, Store as _};
use nightdesk_media::{ContentKey, MediaId, MediaLocation, MediaRecord, Store as _};
use nightdesk_protocol::delivery::PayloadKind;
use nightdesk_register::IdentityStore as _;
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::{event, send_to};
use nightdesk_testkit::test_vault;
use nightdesk_types::send::{Op, PromptOption};
use nightdesk_types::{BotId, DataKeyId, LetterId, Node, NodeEpoch, RequestId, Seq, Timestamp};
use nightdesk_vault::{Locksmith, Store as _, WrappedRow};
use nightdesk_webchat::store::{
    AgentMessage, ChatPrompt, LineChange, Store as _, VisitorChat, VisitorMessage,
};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::planted::{People, Person};
use crate::server::run;
use crate::suites::{Postgres, postgres, web_socket};

/// Part of every text that a person or an agent writes here.
const CANARY: &str = "canary-6b1f0c";

const HOUR: Duration = Duration::from_hours(1);

/// Two people with their agents, and a store that never sealed anything.
struct Scene {
    postgres: Postgres,
    people: People,
}

impl Scene {
    async fn set() -> Self {
        let postgres = postgres().await;
        let people = People::of(&postgres, 2).await;
        Self { postgres, people }
    }

    fn store(&self) -> &Arc<Pg> {
        &self.postgres.store
    }

    fn ann(&self) -> &Person {
        &self.people.people[0]
    }

    fn party(&self, number: usize) -> Party {
        let person = &self.people.people[number];
        Party { scope: person.scope, agent: person.agent }
    }

    /// Returns a store of the same database that holds no key yet, as after a restart.
    fn restarted(&self) -> Arc<Pg> {
        Arc::new(self.postgres.database.store())
    }

    async fn admin(&self) -> PgConnection {
        self.postgres.database.admin().await
    }

    /// Puts an event of ann's into her agent's inbox.
    async fn put(&self, store: &Arc<Pg>, key: &str) -> PutOutcome {
        let event = event().from(&self.ann().author).keyed(key).saying(said(key));
        self.people.put(store, &event).await
    }

    /// Takes the line of ann's agent.
    async fn line(&self) -> LineClaim {
        let Person { scope, agent, gateway, .. } = *self.ann();
        let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
        let taken = self.store().take(web_socket(&caller, &node())).await.expect("take a line");
        let LineStart { incarnation, generation, .. } = taken;
        LineClaim { scope, agent, incarnation, generation }
    }

    /// Replaces the data key of ann's tenant, as a rotation does.
    async fn rotate_key(&self, store: &Arc<Pg>) {
        let (scope, key) = (self.ann().scope, DataKeyId::new(2));
        let tenant = scope.tenant();
        let (_, wrapped) = test_vault().new_data_key(tenant, key);
        let row = WrappedRow { tenant, key, wrapped };
        assert!(store.add_data_key(scope, &row).await.expect("add a key"));
        // The gateways of these people have dummy secrets, which cannot be sealed again.
        let reseal = format!("update gateway_secrets set key_id = 2 where tenant_id = '{tenant}'");
        run(&mut self.admin().await, &reseal).await;
    }

    async fn send(&self, name: &str) -> AdmittedSend {
        let (any, Person { scope, agent, .. }) = ([BotTag::default()], self.ann().clone());
        let through = Some(self.people.bot.id);
        let sender = Sender { scope, agent, hellos: &any, tag: &any[0], through };
        let op = Op::Send { content: said(name), reply_to: None };
        let send = nightdesk_types::Send { op, ..send_to("c1") };
        let gate = Gate::new(Arc::<Pg>::clone(self.store()));
        let request = RequestId::new(name).expect("a short name");
        gate.admit_send(sender, request, send).await.expect("the agent heard from this chat")
    }

    fn chat(&self) -> VisitorChat {
        let (scope, bot) = (self.people.bot.operator, self.people.bot.id);
        VisitorChat { scope, bot, visitor: "visitor".to_owned() }
    }
}

fn node() -> Node {
    Node { name: "n".to_owned(), epoch: NodeEpoch::new(1) }
}

fn said(about: &str) -> String {
    format!("{CANARY} {about}")
}

/// Returns a time at which no test runs.
fn later() -> Timestamp {
    Timestamp::from_second(4_102_444_800).expect("a time")
}

async fn read(store: &Arc<Pg>, line: LineClaim) -> Vec<Entry> {
    let ask = ReadRequest {
        line,
        after: Seq::new(0),
        since: Timestamp::UNIX_EPOCH,
        entries_max: 100,
        taken_at: Seq::new(0),
    };
    let mut answers = store.read_waiting(&[ask]).await.expect("read");
    let entries = answers.pop().and_then(|answer| match answer {
        ReadResponse::Entries(entries) => Some(entries),
        ReadResponse::LineReplaced | ReadResponse::HistoryChanged => None,
    });
    entries.expect("the line is the newest")
}

fn text(entry: &Entry) -> Result<String, ParkReason> {
    entry
        .json
        .as_ref()
        .map(|json| String::from_utf8_lossy(json.as_bytes()).into_owned())
        .map_err(|reason| *reason)
}

async fn count(connection: &mut PgConnection, rows: &str) -> i64 {
    let sql = AssertSqlSafe(format!("select count(*) from {rows}"));
    sqlx::query_scalar(sql).fetch_one(connection).await.expect("count")
}

fn letter(from: Party, to: Party, dispatch: &str, when: Option<Timestamp>) -> Posting {
    let number = dispatch.bytes().fold(0, |number: u128, byte| number << 8 | u128::from(byte));
    let letter = NewLetter {
        id: LetterId::from_uuid(Uuid::from_u128(number)),
        from,
        to,
        dispatch_id: dispatch.to_owned(),
        route: Route::Deliver,
        kind: PayloadKind::Augment,
        session: None,
        correlation_id: Some(dispatch.to_owned()),
        when,
        wait: when.is_none().then_some(HOUR),
        by_outlet: false,
    };
    let body = format!(
        r#"{{"event":{{"text":"{}","source":{{"platform":"desk","chat_id":"letter:x","chat_type":"dm"}}}}}}"#,
        said(dispatch)
    );
    let (bot, chat_id) = (BotId::from_uuid(Uuid::nil()), format!("letter:{}", letter.id));
    Posting { letter, entry: LetterEntry { bot, chat_id, body: body.into_bytes() } }
}

/// Writes a message of every kind.
async fn write_everything(scene: &Scene) {
    let (store, ann) = (scene.store(), scene.ann());
    for key in ["k1", "k2"] {
        assert!(matches!(scene.put(store, key).await, PutOutcome::Stored(_)));
    }
    store.park_waiting(ann.scope, ann.agent, Seq::new(2)).await.expect("park");
    store.resubmit(ann.scope, ann.agent, Seq::new(2)).await.expect("resubmit");
    let body = format!(r#"{{"event":{{"text":"{CANARY}"}}}}"#).into_bytes();
    let local = LocalEntry { bot: scene.people.bot.id, chat_id: "c1".to_owned(), body };
    store.put_local(ann.scope, ann.agent, &local).await.expect("put").expect("a number");
    let unreadable = QuarantinedEvent {
        operator: scene.people.bot.operator,
        bot: scene.people.bot.id,
        problem: "not readable".to_owned(),
        body: CANARY.as_bytes().to_vec(),
    };
    store.quarantine(&unreadable).await.expect("quarantine");
    write_letters(scene).await;
    let send = scene.send("r1").await;
    assert_eq!(store.record_request(&send, "n").await.expect("request"), SendState::New);
    let file = MediaRecord {
        mime: Some("text/plain".to_owned()),
        filename: Some(said("file")),
        size: Some(7),
        location: MediaLocation::There { bot: scene.people.bot.id, reference: said("reference") },
    };
    let files = [(MediaId::from_uuid(Uuid::from_u128(1)), file)];
    store.permit_read(ann.scope, ann.agent, &files, HOUR).await.expect("permit");
    write_chat(scene).await;
}

async fn write_letters(scene: &Scene) {
    let (store, ann) = (scene.store(), scene.party(0));
    let other = store.create_agent(ann.scope, "other").await.expect("enter an agent");
    let other = Party { agent: other, ..ann };
    let now = letter(ann, other, "now", None);
    for posting in [&now, &letter(ann, other, "later", Some(later()))] {
        let put = store.put(std::slice::from_ref(posting)).await.expect("put").pop();
        assert!(
            matches!(put, Some(PostingOutcome::Stored { .. } | PostingOutcome::Scheduled)),
            "{put:?}"
        );
    }
    let replied = store.store_reply(other, now.letter.id, &said("reply")).await.expect("reply");
    assert_eq!(replied, ReplyOutcome::Taken);
    let found = store.letter(ann, now.letter.id).await.expect("read").expect("the letter");
    assert_eq!(found.reply.map(|(words, _)| words), Some(said("reply")));
}

async fn write_chat(scene: &Scene) {
    let (store, chat, at) = (scene.store(), scene.chat(), Timestamp::UNIX_EPOCH);
    let visitor = VisitorMessage { at, nonce: "n1".to_owned(), text: said("visitor") };
    store.write_visitor_message(&chat, &visitor).await.expect("write");
    let option = PromptOption { id: "yes".to_owned(), label: said("option"), style: None };
    let prompt = ChatPrompt { id: "p1".to_owned(), options: vec![option] };
    let agent = AgentMessage { at, text: said("agent"), prompt: Some(prompt) };
    let message = store.write_agent_message(&chat, &agent).await.expect("write");
    store.set_status(&chat, Some(&said("status"))).await.expect("show");
    let edit = LineChange::Edit(said("edited"));
    assert!(store.change_line(&chat, message, &edit).await.expect("edit"));

    let shown = store.latest_lines(&chat, 10).await.expect("read");
    let texts: Vec<&str> = shown.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, [said("visitor"), said("edited")]);
    assert_eq!(shown.lines[1].prompt, agent.prompt, "an edit keeps the buttons");
    assert_eq!(shown.status.map(|status| status.text), Some(said("status")));
}

#[tokio::test]
async fn no_text_of_a_message_is_in_any_table() {
    let scene = Scene::set().await;
    write_everything(&scene).await;

    let mut admin = scene.admin().await;
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I', relname) from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
    )
    .fetch_all(&mut admin)
    .await
    .expect("list tables");
    assert!(tables.len() > 40, "{tables:?}");
    let hex = CANARY.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    for table in &tables {
        let found = format!("{table} t where t::text like '%{CANARY}%' or t::text like '%{hex}%'");
        assert_eq!(count(&mut admin, &found).await, 0, "{table}");
    }
    for table in [
        "inbox_entries",
        "inbox_parked",
        "quarantined",
        "letters",
        "sends",
        "media",
        "webchat_messages",
    ] {
        assert!(count(&mut admin, table).await > 0, "{table} was not searched");
    }
}

#[tokio::test]
async fn a_restarted_node_opens_what_was_stored() {
    let scene = Scene::set().await;
    scene.put(scene.store(), "k1").await;
    let line = scene.line().await;

    let entries = read(&scene.restarted(), line).await;
    assert!(text(&entries[0]).is_ok_and(|text| text.contains(&said("k1"))), "{entries:?}");
}

#[tokio::test]
async fn entries_that_do_not_open_are_parked_and_the_next_are_delivered() {
    let changes = [
        ("swapped bodies", "body = o.body"),
        ("a swapped id", "body_id = o.body_id"),
        ("a changed byte", "body = set_byte(e.body, 20, 255 - get_byte(e.body, 20))"),
        ("a key that never was", "key_id = 9"),
        ("nothing left of it", "body = ''"),
    ];
    for (name, change) in changes {
        let scene = Scene::set().await;
        for key in ["k1", "k2", "k3"] {
            scene.put(scene.store(), key).await;
        }
        let swap = format!(
            "update inbox_entries e set {change} from inbox_entries o
             where e.seq < 3 and o.seq = 3 - e.seq and o.agent_id = e.agent_id"
        );
        run(&mut scene.admin().await, &swap).await;

        let (line, store) = (scene.line().await, scene.restarted());
        let read = read(&store, line).await;
        let found: Vec<_> = read.iter().map(|entry| text(entry).map(|_| ())).collect();
        let unreadable = Err(ParkReason::Unreadable);
        assert_eq!(found, [unreadable, unreadable, Ok(())], "{name}");
        let parked = store.park(&line, Seq::new(1), ParkReason::Unreadable).await.expect("park");
        assert_eq!(parked, ParkOutcome::Parked, "{name}");
        let told = "audit_log where kind = 'entries-parked' and about like '%unreadable%'";
        assert_eq!(count(&mut scene.admin().await, told).await, 1, "{name}: the operator is told");
    }
}

#[tokio::test]
async fn a_message_moved_to_another_agent_does_not_open() {
    let scene = Scene::set().await;
    scene.put(scene.store(), "k1").await;
    let bob = &scene.people.people[1];
    let event = event().from(&bob.author).keyed("b1").saying(said("b1"));
    scene.people.put(scene.store(), &event).await;
    let moved = "update inbox_entries e set (body, key_id, body_id) = (o.body, o.key_id, o.body_id)
        from inbox_entries o where o.agent_id <> e.agent_id";
    run(&mut scene.admin().await, moved).await;

    let entries = read(scene.store(), scene.line().await).await;
    assert_eq!(text(&entries[0]), Err(ParkReason::Unreadable));
}

#[tokio::test]
async fn a_replaced_data_key_opens_its_messages_and_ends_with_them() {
    let scene = Scene::set().await;
    let (warm, mut admin) = (scene.store(), scene.admin().await);
    scene.put(warm, "k1").await;
    let line = scene.line().await;
    let cold = scene.restarted();
    scene.rotate_key(&cold).await;
    // One node still seals with the old key, another with the new one.
    scene.put(warm, "k2").await;
    scene.put(&cold, "k3").await;
    let by_key = async |admin: &mut PgConnection, key: i64| {
        count(admin, &format!("inbox_entries where key_id = {key}")).await
    };
    assert_eq!((by_key(&mut admin, 1).await, by_key(&mut admin, 2).await), (2, 1));
    for store in [warm, &cold, &scene.restarted()] {
        let entries = read(store, line).await;
        assert!(entries.iter().all(|entry| text(entry).is_ok()), "{entries:?}");
    }

    let ann = scene.ann().scope.tenant();
    let keys = format!("tenant_keys where tenant_id = '{ann}'");
    let age = "select open_days(4, 2);
        update tenant_keys set replaced_at = replaced_at - interval '3 days',
            used_at = used_at - interval '3 days';
        update inbox_entries set at = at - interval '3 days'";
    run(&mut admin, age).await;
    cold.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, &keys).await, 2, "entries of its day are there");
    // The parked entry goes into the inbox again, still under the old key.
    let (scope, agent) = (scene.ann().scope, scene.ann().agent);
    assert!(cold.park_waiting(scope, agent, Seq::new(1)).await.expect("park"));
    run(&mut admin, "delete from inbox_entries").await;
    cold.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, &keys).await, 2, "a parked entry names it");
    cold.resubmit(scope, agent, Seq::new(1)).await.expect("resubmit").expect("a number");
    run(&mut admin, "delete from inbox_parked").await;
    cold.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, &keys).await, 2, "the entry is in the inbox again");
    assert!(text(&read(&scene.restarted(), line).await[0]).is_ok());

    run(&mut admin, age).await;
    run(&mut admin, "delete from inbox_entries").await;
    cold.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, &keys).await, 1, "no message needs it");
    assert!(matches!(scene.put(&cold, "k4").await, PutOutcome::Stored(_)));
}

#[tokio::test]
async fn a_message_is_never_stored_under_a_key_that_is_gone() {
    let scene = Scene::set().await;
    let (warm, mut admin) = (scene.store(), scene.admin().await);
    scene.put(warm, "k1").await;
    scene.rotate_key(&scene.restarted()).await;
    run(&mut admin, "delete from tenant_keys where replaced_at is not null").await;

    let event = event().from(&scene.ann().author).keyed("k2");
    let accept = [scene.people.accept(warm, &event).await];
    let refused = warm.accept(&accept).await.expect_err("no node could open it");
    assert!(refused.retryable, "{refused:?}");
    let again = warm.accept(&accept).await.expect("the newest key seals");
    assert!(matches!(again[..], [PutOutcome::Stored(_)]), "{again:?}");
    assert_eq!(count(&mut admin, "inbox_entries where key_id = 2").await, 1);
}

#[tokio::test]
async fn an_event_for_an_erased_tenant_is_stale() {
    let scene = Scene::set().await;
    let (warm, cold) = (scene.store(), scene.restarted());
    scene.put(warm, "k1").await;
    let event = event().from(&scene.ann().author).keyed("k2");
    let accept = [scene.people.accept(warm, &event).await];
    let locksmith = Locksmith::new(Arc::<Pg>::clone(&cold), test_vault());
    locksmith.erase(scene.ann().scope).await.expect("erase");

    for store in [warm, &cold] {
        let put = store.accept(&accept).await.expect("put");
        assert!(matches!(put[..], [PutOutcome::Stale]), "{put:?}");
    }
}

#[tokio::test]
async fn a_letter_that_does_not_open_is_parked_when_it_is_due() {
    let scene = Scene::set().await;
    let (store, ann) = (scene.store(), scene.party(0));
    let other = store.create_agent(ann.scope, "other").await.expect("enter an agent");
    let other = Party { agent: other, ..ann };
    let posting = letter(ann, other, "later", Some(later()));
    store.put(std::slice::from_ref(&posting)).await.expect("put");
    let mut admin = scene.admin().await;
    run(&mut admin, "update letters set body_id = gen_random_uuid()").await;

    assert_eq!(store.take_due(other, posting.letter.id).await.expect("due"), None);
    assert_eq!(store.take_due(other, posting.letter.id).await.expect("due"), None, "once");
    let parked = "inbox_parked where reason = 'unreadable' and seq = 1";
    assert_eq!(count(&mut admin, parked).await, 1);
    assert_eq!(count(&mut admin, "inbox_parked").await, 1);
}

#[tokio::test]
async fn a_send_that_does_not_open_fails_and_the_next_is_found() {
    let scene = Scene::set().await;
    let store = scene.store();
    scene.put(store, "k1").await;
    let epoch = store.begin("n", HOUR).await.expect("begin a life");
    let node = Node { name: "n".to_owned(), epoch };
    let bot = Resource::Bot(scene.people.bot.id);
    store.find_or_claim(bot, &node).await.expect("own a bot").expect("it lives");
    let sends = [scene.send("r1").await, scene.send("r2").await];
    for send in &sends {
        store.record_request(send, "n").await.expect("request");
    }
    let damaged = "update sends set body_id = gen_random_uuid() where request_id = 'r1'";
    run(&mut scene.admin().await, damaged).await;

    let waiting = scene.restarted().waiting_sends(&node, 10).await.expect("find");
    let found: Vec<&str> = waiting.iter().map(|send| send.key.request.as_str()).collect();
    assert_eq!(found, ["r2"]);
    assert_eq!(&waiting[0].send, sends[1].send());
    let state = store.send_state(&SendKey::from(&sends[0])).await.expect("read");
    assert_eq!(state, Some(SendState::Settled(SendResult::unreadable())));
}

#[tokio::test]
async fn a_line_of_a_chat_and_a_file_that_do_not_open_hide_no_other() {
    let scene = Scene::set().await;
    let (store, chat, ann) = (scene.store(), scene.chat(), scene.ann());
    for nonce in ["n1", "n2"] {
        let message = VisitorMessage {
            at: Timestamp::UNIX_EPOCH,
            nonce: nonce.to_owned(),
            text: said(nonce),
        };
        store.write_visitor_message(&chat, &message).await.expect("write");
    }
    let location = MediaLocation::Here { key: ContentKey::random() };
    let file = MediaRecord { mime: None, filename: None, size: None, location };
    let ids = [1, 2].map(|number| MediaId::from_uuid(Uuid::from_u128(number)));
    let files = ids.map(|id| (id, file.clone()));
    store.permit_read(ann.scope, ann.agent, &files, HOUR).await.expect("permit");
    let damage = format!(
        "update webchat_messages set body_id = gen_random_uuid() where nonce = 'n1';
         update media set body_id = gen_random_uuid() where media_id = '{}'",
        ids[0].uuid()
    );
    run(&mut scene.admin().await, &damage).await;

    let lines = store.latest_lines(&chat, 10).await.expect("read").lines;
    let shown: Vec<(&str, bool)> =
        lines.iter().map(|line| (line.text.as_str(), line.deleted)).collect();
    assert_eq!(shown, [("", true), (said("n2").as_str(), false)]);
    assert_eq!(store.find_record(ann.scope, ann.agent, ids[0]).await.expect("find"), None);
    let whole = store.find_record(ann.scope, ann.agent, ids[1]).await.expect("find");
    assert_eq!(whole, Some(file));
}

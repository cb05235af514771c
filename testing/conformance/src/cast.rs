//! Provides the tenants, bots and people of the checks, and their actions in one line each.

use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_gate::{AdmittedEvent, Gate};
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, AckRange, AckRequest, Entry, LineClaim, PutOutcome, ReadRequest,
    ReadResponse, StoredEntry,
};
use nightdesk_line::{AuthenticatedGateway, CloseRecord, ClosingSide, LineRequest, LineStart};
use nightdesk_port::Bot;
use nightdesk_register::{AgentOnBot, NewBot, NewSecret};
use nightdesk_testkit::builders::{self, EventBuilder};
use nightdesk_testkit::first_data_key;
use nightdesk_types::{
    Actor, AgentId, ClientRules, DataKeyId, GatewayId, Node, NodeEpoch, Seq, TenantId, TenantScope,
    Timestamp, Transport,
};
use serde_json::json;
use uuid::Uuid;

use super::Harness;

/// More entries than any check has waiting.
const MANY: usize = 20_000;

/// The operator with a bot, to which a check adds others.
pub(super) struct Cast<'h> {
    pub(super) harness: &'h dyn Harness,
    pub(super) operator: TenantScope,
    pub(super) bot: Bot,
}

/// A person who is bound on the bot to their own agent, in their own tenant.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// The platform's id of the person.
    pub(super) author: String,
    pub(super) scope: TenantScope,
    pub(super) agent: AgentId,
    pub(super) gateway: GatewayId,
}

/// A line that was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) claim: LineClaim,
    pub(super) taken: LineStart,
}

impl<'h> Cast<'h> {
    /// Creates the operator and a bot.
    pub(super) async fn of(harness: &'h dyn Harness) -> Self {
        let operator = tenant(harness, "operator").await;
        let bot = bot(harness, operator, "desk-bot").await;
        Self { harness, operator, bot }
    }

    /// Creates another bot of the operator.
    pub(super) async fn another_bot(&self, handle: &str) -> Bot {
        bot(self.harness, self.operator, handle).await
    }

    /// Creates a person with a tenant, an agent and a gateway, and binds them on the bot.
    pub(super) async fn person(&self, name: &str) -> Person {
        let person = self.stranger(name).await;
        self.bind(&person, name).await;
        person
    }

    /// Creates a person who is not bound.
    pub(super) async fn stranger(&self, name: &str) -> Person {
        let register = self.harness.register();
        let scope = tenant(self.harness, name).await;
        let agent = register.create_agent(scope, name).await.expect("enter an agent");
        let secret = secret(name);
        let gateway = register.create_gateway(scope, agent, name, &secret).await;
        let gateway = gateway.expect("enter a gateway");
        Person { author: name.to_owned(), scope, agent, gateway }
    }

    /// Returns a person's agent on the bot.
    pub(super) const fn on_bot(&self, person: &Person) -> AgentOnBot {
        AgentOnBot { scope: person.scope, agent: person.agent, bot: self.bot.id }
    }

    /// Binds an author to a person's agent.
    pub(super) async fn bind(&self, person: &Person, author: &str) {
        let register = self.harness.register();
        let bound = register.bind(self.on_bot(person), author).await;
        bound.expect("bind an author");
    }

    /// Removes an author's binding.
    pub(super) async fn unbind(&self, person: &Person, author: &str) {
        let register = self.harness.register();
        let unbound = register.unbind(self.on_bot(person), author).await;
        unbound.expect("unbind an author");
    }

    /// Returns the gate's current decision. Every call reads the store again.
    pub(super) async fn admitted(&self, event: &EventBuilder) -> AdmittedEvent {
        let gate = Gate::new(self.harness.gate());
        event.admitted(&self.bot, &gate).await.expect("the gate admits it")
    }

    /// Returns an admitted event, ready to be stored.
    pub(super) async fn accept_of(&self, event: &EventBuilder) -> AcceptRequest {
        AcceptRequest::from_event(&self.admitted(event).await, None)
    }

    /// Returns admitted events, ready to be stored. One gate decides on all of them.
    pub(super) async fn accepts(
        &self,
        events: impl IntoIterator<Item = EventBuilder>,
    ) -> Vec<AcceptRequest> {
        let gate = Gate::new(self.harness.gate());
        let mut accepts = Vec::new();
        for event in events {
            let admitted = event.admitted(&self.bot, &gate).await.expect("the gate admits it");
            accepts.push(AcceptRequest::from_event(&admitted, None));
        }
        accepts
    }

    /// Stores a batch.
    pub(super) async fn accept(&self, batch: &[AcceptRequest]) -> Vec<PutOutcome> {
        self.harness.inbox().accept(batch).await.expect("put events")
    }

    /// Admits and stores one event.
    pub(super) async fn put(&self, event: &EventBuilder) -> PutOutcome {
        let accept = self.accept_of(event).await;
        self.accept(&[accept]).await.pop().expect("an answer per ask")
    }

    /// Admits and stores one event that is new and has one recipient.
    pub(super) async fn stored(&self, event: &EventBuilder) -> StoredEntry {
        let put = self.put(event).await;
        let PutOutcome::Stored(stored) = &put else { panic!("it was to be stored, not {put:?}") };
        assert_eq!(stored.len(), 1, "it has one recipient: {stored:?}");
        stored[0]
    }

    /// Stores this many events of one person, with the keys `k1`, `k2` and so on.
    pub(super) async fn several(&self, person: &Person, count: usize) {
        for number in 1..=count {
            self.stored(&person.says(number)).await;
        }
    }

    /// Takes a person's line.
    pub(super) async fn line(&self, person: &Person) -> Line {
        self.take_line(person, None).await
    }

    /// Takes a line whose first hello shows its client's rules, or none.
    pub(super) async fn take_line(&self, person: &Person, rules: Option<ClientRules>) -> Line {
        self.take(person, Transport::WebSocket, rules).await
    }

    /// Takes the line on which a person's agent gets posts.
    pub(super) async fn posted_line(&self, person: &Person) -> Line {
        self.take(person, Transport::Webhook, None).await
    }

    async fn take(
        &self,
        person: &Person,
        transport: Transport,
        rules: Option<ClientRules>,
    ) -> Line {
        let Person { scope, agent, gateway, .. } = *person;
        let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
        let node = Node { name: "node-1".to_owned(), epoch: NodeEpoch::new(1) };
        let request = LineRequest { caller: &caller, node: &node, transport, rules };
        let taken = self.harness.lines().take(request).await.expect("take a line");
        let LineStart { incarnation, generation, .. } = taken;
        Line { claim: LineClaim { scope, agent, incarnation, generation }, taken }
    }

    /// Ends a line whose gateway is gone.
    pub(super) async fn close(&self, line: &Line, tried: Option<i64>) {
        let (tried, parting) = (tried.map(Seq::new), ClosingSide::Client);
        self.end(line, CloseRecord { code: 1006, tried, closed_by: parting }).await;
    }

    /// Ends a line because the desk restarts.
    pub(super) async fn restart(&self, line: &Line) {
        self.end(line, CloseRecord { code: 1012, tried: None, closed_by: ClosingSide::Desk }).await;
    }

    /// Ends a line whose client goes idle.
    pub(super) async fn goes_idle(&self, line: &Line) {
        self.end(line, CloseRecord { code: 1000, tried: None, closed_by: ClosingSide::Idle }).await;
    }

    async fn end(&self, line: &Line, end: CloseRecord) {
        self.harness.lines().close(&line.claim, end).await.expect("close a line");
    }

    /// Returns the answer to an ask.
    pub(super) async fn ask(&self, ask: ReadRequest) -> ReadResponse {
        let answers = self.harness.inbox().read_waiting(&[ask]).await;
        answers.expect("read what waits").pop().expect("an answer per ask")
    }

    /// Returns everything that a line can read from its start on.
    pub(super) async fn waiting(&self, line: &Line) -> Vec<Entry> {
        match self.ask(line.ask()).await {
            ReadResponse::Entries(entries) => entries,
            ReadResponse::LineReplaced => panic!("the line is the newest"),
            ReadResponse::HistoryChanged => panic!("the history goes on"),
        }
    }

    /// Returns the numbers of everything that a line can read.
    pub(super) async fn numbers(&self, line: &Line) -> Vec<i64> {
        self.waiting(line).await.iter().map(|entry| entry.seq.get()).collect()
    }

    /// Acks ranges of numbers.
    pub(super) async fn ack(&self, line: &Line, ranges: &[(i64, i64)]) -> AckOutcome {
        let answers = self.harness.inbox().ack(&[line.acks(ranges)]).await;
        answers.expect("ack entries").pop().expect("an answer per ask")
    }
}

impl Person {
    /// Returns an event of the person, keyed by number.
    pub(super) fn says(&self, number: usize) -> EventBuilder {
        builders::event().from(&self.author).keyed(format!("k{number}"))
    }
}

impl Line {
    /// Returns an ask for everything from the line's start on.
    pub(super) const fn ask(&self) -> ReadRequest {
        ReadRequest {
            line: self.claim,
            after: self.taken.acked,
            since: self.taken.since,
            entries_max: MANY,
            taken_at: self.taken.head,
        }
    }

    /// Returns acks of ranges of numbers.
    pub(super) fn acks(&self, ranges: &[(i64, i64)]) -> AckRequest {
        let range = |(from, to): &(i64, i64)| AckRange {
            from: Seq::new(*from),
            to: Seq::new(*to),
            // A time that is too early is never wrong: it only makes a drain read older days.
            at: Timestamp::UNIX_EPOCH,
            handed_at: Timestamp::UNIX_EPOCH,
        };
        AckRequest { line: self.claim, ranges: ranges.iter().map(range).collect() }
    }
}

/// Creates a tenant with its data key.
pub(super) async fn tenant(harness: &dyn Harness, name: &str) -> TenantScope {
    let id = TenantId::from_uuid(id_of("tenant", name));
    let key = first_data_key(id);
    let scope = TenantScope::for_tenant(id);
    let by_operator = scope.with_actor(Actor::Operator);
    harness.register().create_tenant(by_operator, name, &key).await.expect("enter a tenant");
    scope
}

/// Creates a bot. Its webhook's path is its handle.
pub(super) async fn bot(harness: &dyn Harness, operator: TenantScope, handle: &str) -> Bot {
    let new = new_bot(handle);
    let id = harness.register().create_bot(operator, &new).await.expect("enter a bot");
    Bot { handle: new.handle, ..builders::bot(id, operator) }
}

/// Returns a bot to create. Its webhook's path is its handle.
pub(super) fn new_bot(handle: &str) -> NewBot {
    NewBot {
        id: id_of("bot", handle),
        platform: "discord".to_owned(),
        adapter: "scripted".to_owned(),
        handle: handle.to_owned(),
        path: handle.to_owned(),
        settings: json!({ "handle": handle }),
        sealed: None,
    }
}

/// Returns a secret to create. The store does not interpret sealed bytes.
pub(super) fn secret(name: &str) -> NewSecret {
    let (id, sealed) = (id_of("secret", name), name.as_bytes().to_vec());
    NewSecret { id, sealed, key: DataKeyId::new(1) }
}

/// Returns the same id for the same name, so that a run can be repeated.
pub(super) fn id_of(kind: &str, name: &str) -> Uuid {
    let digest = digest(&SHA256, format!("{kind} {name}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.as_ref()[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

//! Cast: who plays in the checks, and what they do in one line each.

use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_gate::{Admitted, Gate};
use nightdesk_inbox::{Accept, Ack, AckOf, AckRange, Ask, Entry, LineClaim, Put, Stored, Waiting};
use nightdesk_line::{Caller, End, Parting, Taken};
use nightdesk_port::Bot;
use nightdesk_register::{NewBot, NewSecret, OnBot};
use nightdesk_types::{
    AgentId, DataKeyId, Event, GatewayId, Node, NodeEpoch, Seq, TenantId, TenantScope, Timestamp,
};
use nightdesk_vault::WrappedKey;
use serde_json::json;
use uuid::Uuid;

use super::Harness;
use crate::builders::{self, EventBuilder};

/// Entries no check has more of waiting.
const MANY: usize = 20_000;

/// The operator with a bot, and whoever else a check calls in.
pub(super) struct Cast<'h> {
    pub(super) harness: &'h dyn Harness,
    pub(super) operator: TenantScope,
    pub(super) bot: Bot,
}

/// A person: bound on the bot to an agent of their own, in a tenant of their own.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// What the platform calls them.
    pub(super) author: String,
    pub(super) scope: TenantScope,
    pub(super) agent: AgentId,
    pub(super) gateway: GatewayId,
}

/// A line that was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) claim: LineClaim,
    pub(super) taken: Taken,
}

impl<'h> Cast<'h> {
    /// Enters the operator and a bot.
    pub(super) async fn of(harness: &'h dyn Harness) -> Self {
        let operator = tenant(harness, "operator").await;
        let bot = bot(harness, operator, "desk-bot").await;
        Self { harness, operator, bot }
    }

    /// Enters another bot of the operator.
    pub(super) async fn another_bot(&self, handle: &str) -> Bot {
        bot(self.harness, self.operator, handle).await
    }

    /// Enters a person with a tenant, an agent and a gateway, and binds them on the bot.
    pub(super) async fn person(&self, name: &str) -> Person {
        let person = self.stranger(name).await;
        self.bind(&person, name).await;
        person
    }

    /// Enters a person who is not bound.
    pub(super) async fn stranger(&self, name: &str) -> Person {
        let register = self.harness.register();
        let scope = tenant(self.harness, name).await;
        let agent = register.create_agent(scope, name).await.expect("enter an agent");
        let secret = secret(name);
        let gateway = register.create_gateway(scope, agent, name, &secret).await;
        let gateway = gateway.expect("enter a gateway");
        Person { author: name.to_owned(), scope, agent, gateway }
    }

    /// A person's agent on the bot.
    pub(super) const fn on_bot(&self, person: &Person) -> OnBot {
        OnBot { scope: person.scope, agent: person.agent, bot: self.bot.id }
    }

    /// Binds an author to a person's agent.
    pub(super) async fn bind(&self, person: &Person, author: &str) {
        let register = self.harness.register();
        let bound = register.bind(self.on_bot(person), author).await;
        bound.expect("bind an author");
    }

    /// Takes an author's binding back.
    pub(super) async fn unbind(&self, person: &Person, author: &str) {
        let register = self.harness.register();
        let unbound = register.unbind(self.on_bot(person), author).await;
        unbound.expect("unbind an author");
    }

    /// What the gate says now; every call asks the store again.
    pub(super) async fn admitted(&self, event: &EventBuilder) -> Admitted<Event> {
        let gate = Gate::over(self.harness.gate());
        event.admitted(&self.bot, &gate).await.expect("the gate admits it")
    }

    /// An admitted event, ready to be written.
    pub(super) async fn accept_of(&self, event: &EventBuilder) -> Accept {
        Accept::of(&self.admitted(event).await, None)
    }

    /// Admitted events, ready to be written; one gate decides on them all.
    pub(super) async fn accepts(
        &self,
        events: impl IntoIterator<Item = EventBuilder>,
    ) -> Vec<Accept> {
        let gate = Gate::over(self.harness.gate());
        let mut accepts = Vec::new();
        for event in events {
            let admitted = event.admitted(&self.bot, &gate).await.expect("the gate admits it");
            accepts.push(Accept::of(&admitted, None));
        }
        accepts
    }

    /// Puts a batch.
    pub(super) async fn accept(&self, batch: &[Accept]) -> Vec<Put> {
        self.harness.inbox().accept(batch).await.expect("put events")
    }

    /// Admits and puts one event.
    pub(super) async fn put(&self, event: &EventBuilder) -> Put {
        let accept = self.accept_of(event).await;
        self.accept(&[accept]).await.pop().expect("an answer per ask")
    }

    /// Admits and puts one event that is new and has one recipient.
    pub(super) async fn stored(&self, event: &EventBuilder) -> Stored {
        let put = self.put(event).await;
        let Put::Stored(stored) = &put else { panic!("it was to be stored, not {put:?}") };
        assert_eq!(stored.len(), 1, "it has one recipient: {stored:?}");
        stored[0]
    }

    /// Puts so many events of one person, keyed `k1`, `k2` and so on.
    pub(super) async fn several(&self, person: &Person, count: usize) {
        for number in 1..=count {
            self.stored(&person.says(number)).await;
        }
    }

    /// Takes a person's line.
    pub(super) async fn line(&self, person: &Person) -> Line {
        self.line_from(person, person.gateway).await
    }

    /// Takes a person's line, as another gateway of theirs.
    pub(super) async fn line_from(&self, person: &Person, gateway: GatewayId) -> Line {
        let Person { scope, agent, .. } = *person;
        let caller = Caller { scope, agent, gateway, acks: true };
        let node = Node { name: "node-1".to_owned(), epoch: NodeEpoch::new(1) };
        let taken = self.harness.lines().take(&caller, &node).await.expect("take a line");
        Line { claim: LineClaim { scope, agent, generation: taken.generation }, taken }
    }

    /// Ends a line, as if its gateway were gone.
    pub(super) async fn close(&self, line: &Line, tried: Option<i64>) {
        let (tried, parting) = (tried.map(Seq::new), Parting::Client);
        self.end(line, End { code: 1006, tried, parting }).await;
    }

    /// Ends a line because the desk restarts.
    pub(super) async fn restart(&self, line: &Line) {
        self.end(line, End { code: 1012, tried: None, parting: Parting::Desk }).await;
    }

    /// Ends a line as its client does that goes idle.
    pub(super) async fn goes_idle(&self, line: &Line) {
        self.end(line, End { code: 1000, tried: None, parting: Parting::Idle }).await;
    }

    async fn end(&self, line: &Line, end: End) {
        self.harness.lines().close(&line.claim, end).await.expect("close a line");
    }

    /// What an ask gets.
    pub(super) async fn ask(&self, ask: Ask) -> Waiting {
        let answers = self.harness.inbox().waiting(&[ask]).await;
        answers.expect("read what waits").pop().expect("an answer per ask")
    }

    /// Everything a line can read from its start on.
    pub(super) async fn waiting(&self, line: &Line) -> Vec<Entry> {
        match self.ask(line.ask()).await {
            Waiting::Entries(entries) => entries,
            Waiting::LineReplaced => panic!("the line is the newest"),
        }
    }

    /// The numbers of everything a line can read.
    pub(super) async fn numbers(&self, line: &Line) -> Vec<i64> {
        self.waiting(line).await.iter().map(|entry| entry.seq.get()).collect()
    }

    /// Acknowledges ranges of numbers.
    pub(super) async fn ack(&self, line: &Line, ranges: &[(i64, i64)]) -> Ack {
        let answers = self.harness.inbox().ack(&[line.acks(ranges)]).await;
        answers.expect("ack entries").pop().expect("an answer per ask")
    }
}

impl Person {
    /// What they say, keyed by number.
    pub(super) fn says(&self, number: usize) -> EventBuilder {
        builders::event().from(&self.author).keyed(format!("k{number}"))
    }
}

impl Line {
    /// An ask for everything from the line's start on.
    pub(super) const fn ask(&self) -> Ask {
        Ask {
            line: self.claim,
            after: self.taken.acked,
            since: self.taken.since,
            entries_max: MANY,
            taken_at: self.taken.head,
        }
    }

    /// Acks of ranges of numbers.
    pub(super) fn acks(&self, ranges: &[(i64, i64)]) -> AckOf {
        let range = |(from, to): &(i64, i64)| AckRange {
            from: Seq::new(*from),
            to: Seq::new(*to),
            // Too early is never wrong: it only lets a drain look at older days.
            at: Timestamp::UNIX_EPOCH,
            handed_at: Timestamp::UNIX_EPOCH,
        };
        AckOf { line: self.claim, ranges: ranges.iter().map(range).collect() }
    }
}

/// Enters a tenant with its data key.
pub(super) async fn tenant(harness: &dyn Harness, name: &str) -> TenantScope {
    let id = TenantId::from_uuid(id_of("tenant", name));
    let key = WrappedKey(name.as_bytes().to_vec());
    harness.register().create_tenant(id, name, &key).await.expect("enter a tenant");
    TenantScope::of(id)
}

/// Enters a bot; its webhook's path is its handle.
pub(super) async fn bot(harness: &dyn Harness, operator: TenantScope, handle: &str) -> Bot {
    let new = new_bot(handle);
    let id = harness.register().create_bot(operator, &new).await.expect("enter a bot");
    Bot { handle: new.handle, ..builders::bot(id, operator) }
}

/// A bot to be entered; its webhook's path is its handle.
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

/// A secret to be entered. To the store, sealed bytes are bytes.
pub(super) fn secret(name: &str) -> NewSecret {
    let (id, sealed) = (id_of("secret", name), name.as_bytes().to_vec());
    NewSecret { id, sealed, key: DataKeyId::new(1) }
}

/// The same id for the same name, so that a run can be played again.
pub(super) fn id_of(kind: &str, name: &str) -> Uuid {
    let digest = digest(&SHA256, format!("{kind} {name}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.as_ref()[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

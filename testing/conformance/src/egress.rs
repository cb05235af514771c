//! Checks the promises of the store of sends.

use std::time::Duration;

use nightdesk_egress::{AbandonedSend, SendKey, SendResult, SendState, SentParts, WaitingSend};
use nightdesk_gate::{AdmittedSend, BotMessage, BotPrompt, BotTag, Gate, Sender};
use nightdesk_lease::{Owner, Resource};
use nightdesk_port::Receipt;
use nightdesk_testkit::builders::send_to;
use nightdesk_types::send::Op;
use nightdesk_types::{BotId, GrantTarget, Node, OverQuota, Principal, Quota, RequestId, Send};
use tokio::task::JoinSet;

use super::Harness;
use super::cast::{Cast, Person};
use super::gate::grant;

/// Checks that a send is stored once per request, and that a repeat gets its result.
pub async fn a_repeat_gets_what_came_of_the_first(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    let (send, key) = sends.ask("r1").await;
    let unknown = SendKey { request: request("r2"), ..key.clone() };
    assert_eq!(harness.egress().send_state(&unknown).await.expect("look at a send"), None);
    assert_eq!(ask(harness, &send).await, SendState::UnderWay, "nobody is at it yet");
    assert!(claim(harness, &key, &owner).await);
    assert_eq!(ask(harness, &send).await, SendState::UnderWay, "the call is being made");
    assert!(settle(harness, &key, &owner.node, &delivered()).await);

    assert_eq!(ask(harness, &send).await, SendState::Settled(delivered()));
    assert_eq!(look(harness, &key).await, SendState::Settled(delivered()));
    let other = sends.send(&sends.ann, "r1", send_to("c1").chat_id).await;
    assert_eq!(ask(harness, &other).await, SendState::Settled(delivered()), "by its name alone");
}

/// Checks that the same name from another agent is another send.
pub async fn requests_of_two_agents_do_not_meet(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    let (_, anns) = sends.ask("r1").await;
    let bob = sends.cast.person("bob").await;
    grant(&sends.cast, &bob, "c2", Principal::Any).await;
    let bobs = sends.send(&bob, "r1", "c2".to_owned()).await;

    assert_eq!(ask(harness, &bobs).await, SendState::New);
    assert!(claim(harness, &anns, &owner).await);
    assert!(claim(harness, &SendKey::from(&bobs), &owner).await);
    let foreign = SendKey { scope: bob.scope, ..anns };
    assert!(!settle(harness, &foreign, &owner.node, &delivered()).await);
}

/// Checks that an agent at its quota stores no further send and no further prompt, that a repeat is none, and that the
/// quota of one agent is not that of another.
pub async fn an_agent_has_so_many_stored_sends_and_prompts(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let scope = sends.ann.scope;
    for quota in [Quota::AgentSends, Quota::AgentPrompts] {
        harness.register().set_quota(scope, quota, 2).await.expect("set a quota");
    }
    let (first, _) = sends.ask("r1").await;
    sends.ask("r2").await;
    let third = sends.send(&sends.ann, "r3", send_to("c1").chat_id).await;
    let refused = harness.egress().record_request(&third, "node-1").await;
    let over = refused.expect_err("it is one too many").over_quota();
    assert_eq!(over, Some(OverQuota { quota: Quota::AgentSends, allowed: 2 }));
    assert_eq!(ask(harness, &first).await, SendState::UnderWay, "a repeat is no further send");

    let prompt = |id| BotPrompt { bot: sends.cast.bot.id, id };
    let record = |person: &Person, id| {
        let (scope, agent) = (person.scope, person.agent);
        async move { harness.gate().record_prompt(scope, agent, prompt(id)).await }
    };
    assert!(record(&sends.ann, "p1").await.expect("record a prompt"));
    assert!(record(&sends.ann, "p2").await.expect("record a prompt"));
    assert!(record(&sends.ann, "p2").await.expect("a repeat is no further prompt"));
    let over = record(&sends.ann, "p3").await.expect_err("it is one too many").over_quota();
    assert_eq!(over, Some(OverQuota { quota: Quota::AgentPrompts, allowed: 2 }));
    let bob = sends.cast.person("bob").await;
    assert!(record(&bob, "p3").await.expect("record a prompt"));
}

/// Checks that a send which failed or is in doubt is also settled.
pub async fn every_outcome_is_kept(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    let outcomes = [
        delivered(),
        SendResult::Delivered(Receipt::default()),
        SendResult::InParts(SentParts { said: vec![Receipt::default()], of: 3 }),
        SendResult::Failed("message refused by the platform: 50013".to_owned()),
        SendResult::Ambiguous,
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let (send, key) = sends.ask(&format!("r{number}")).await;
        claim(harness, &key, &owner).await;
        assert!(settle(harness, &key, &owner.node, &outcome).await);
        assert_eq!(ask(harness, &send).await, SendState::Settled(outcome));
    }
}

/// Checks that one of several claimers gets the call, and no later one.
pub async fn a_send_is_claimed_once(harness: &impl Harness) {
    const CLAIMERS: usize = 8;
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    let (_, key) = sends.ask("r1").await;
    let mut claimers = JoinSet::new();
    for _ in 0..CLAIMERS {
        let (store, key, owner) = (harness.egress(), key.clone(), owner.clone());
        claimers.spawn(async move { store.claim(&key, &owner).await.expect("claim a send") });
    }

    let got = claimers.join_all().await.into_iter().filter(|got| *got).count();
    assert_eq!(got, 1);
    assert!(!claim(harness, &key, &owner).await);
    let unasked = SendKey { request: request("never asked for"), ..key };
    assert!(!claim(harness, &unasked, &owner).await);
}

/// Checks that only the bot's owner makes the call: neither a former owner nor a node that never owned it.
pub async fn only_the_owner_claims(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (_, key) = sends.ask("r1").await;
    let before = sends.owner("node-1").await;
    harness.lease().end(&before.node).await.expect("end a life");
    let owner = sends.owner("node-2").await;
    let older = Owner { epoch: before.epoch, ..owner.clone() };
    let never = Owner { node: sends.node("node-3").await, ..owner.clone() };

    for (name, other) in [("before", before), ("an older epoch", older), ("never", never)] {
        assert!(!claim(harness, &key, &other).await, "{name}");
    }
    assert!(claim(harness, &key, &owner).await);
}

/// Checks that only the claiming life of a node settles the call, once.
pub async fn only_the_claimer_settles(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (send, key) = sends.ask("r1").await;
    let owner = sends.owner("node-1").await;
    assert!(!settle(harness, &key, &owner.node, &delivered()).await, "nobody claimed it");
    claim(harness, &key, &owner).await;
    let later = Node { epoch: owner.node.epoch.next(), ..owner.node.clone() };
    let elsewhere = Node { name: "node-2".to_owned(), ..owner.node.clone() };
    for (name, other) in [("later", later), ("elsewhere", elsewhere)] {
        assert!(!settle(harness, &key, &other, &SendResult::Ambiguous).await, "{name}");
    }

    assert!(settle(harness, &key, &owner.node, &delivered()).await);
    assert!(!settle(harness, &key, &owner.node, &SendResult::Ambiguous).await, "a second time");
    assert_eq!(ask(harness, &send).await, SendState::Settled(delivered()));
}

/// Checks that a bot's owner finds its waiting sends, oldest first, and nothing else.
pub async fn what_waits_is_found_by_its_owner(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (first, key) = sends.ask("r1").await;
    sends.ask("r2").await;
    let (_, begun) = sends.ask("r3").await;
    let owner = sends.owner("node-1").await;
    claim(harness, &begun, &owner).await;
    let found = waiting(harness, &owner.node).await;

    let names: Vec<&str> = found.iter().map(|send| send.key.request.as_str()).collect();
    assert_eq!(names, ["r1", "r2"]);
    let WaitingSend { bot, send, asked_on, .. } = &found[0];
    assert_eq!((&found[0].key, *bot), (&key, sends.cast.bot.id));
    assert_eq!((send, asked_on.as_deref()), (first.send(), Some(ASKED_ON)));
    assert_eq!(waiting(harness, &sends.node("node-2").await).await, [], "another's bots");
}

/// Checks that a bot with waiting sends and without a live owner is found.
pub async fn a_bot_without_an_owner_is_found(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    assert_eq!(ownerless(harness).await, [], "nothing waits");
    sends.ask("r1").await;
    assert_eq!(ownerless(harness).await, [sends.cast.bot.id], "nobody ever owned it");

    let owner = sends.owner("node-1").await;
    assert_eq!(ownerless(harness).await, []);
    harness.lease().end(&owner.node).await.expect("end a life");
    assert_eq!(ownerless(harness).await, [sends.cast.bot.id], "its owner is gone");
}

/// Checks that a call begun in a life that is over is ambiguous, and is never made again.
pub async fn what_is_given_up_is_never_called_again(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (send, key) = sends.ask("r1").await;
    let (_, asked) = sends.ask("r2").await;
    let owner = sends.owner("node-1").await;
    claim(harness, &key, &owner).await;
    assert_eq!(give_up(harness).await, [], "this life is at it");
    harness.lease().end(&owner.node).await.expect("end a life");
    assert!(!settle(harness, &key, &owner.node, &delivered()).await, "its life is over");

    let asked_on = Some(ASKED_ON.to_owned());
    let want = AbandonedSend { agent: key.agent, request: key.request.clone(), asked_on };
    assert_eq!(give_up(harness).await, [want]);
    assert_eq!(give_up(harness).await, [], "once");
    assert_eq!(ask(harness, &send).await, SendState::Settled(SendResult::Ambiguous));
    let next = sends.owner("node-2").await;
    assert!(!claim(harness, &key, &next).await, "no second claim, ever");
    assert!(!settle(harness, &key, &owner.node, &delivered()).await, "too late");
    assert!(claim(harness, &asked, &next).await, "what was not begun is not given up");
}

/// Checks that only a send that is not begun can be retracted, and that it cannot begin afterwards.
pub async fn only_what_is_not_begun_is_retracted(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (_, begun) = sends.ask("r1").await;
    let (_, asked) = sends.ask("r2").await;
    let owner = sends.owner("node-1").await;
    claim(harness, &begun, &owner).await;
    let (lease, node) = (harness.egress(), sends.node("node-2").await);
    let retract = async |key| lease.retract(key, &node, &SendResult::without_turn()).await;

    assert!(!retract(&begun).await.expect("retract a send"));
    assert!(retract(&asked).await.expect("retract a send"));
    assert_eq!(look(harness, &asked).await, SendState::Settled(SendResult::without_turn()));
    assert!(!claim(harness, &asked, &owner).await, "nobody may any more");
    assert!(settle(harness, &begun, &owner.node, &delivered()).await);
}

/// Checks that one sweep finds no more than its limit.
pub async fn a_sweep_is_bounded(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    for number in 0..10 {
        let (_, key) = sends.ask(&format!("r{number}")).await;
        if number < 5 {
            claim(harness, &key, &owner).await;
        }
    }

    let found = harness.egress().waiting_sends(&owner.node, 3).await.expect("find waiting sends");
    assert_eq!(found.len(), 3);
    harness.lease().end(&owner.node).await.expect("end a life");
    assert_eq!(harness.egress().abandon_sends(3).await.expect("give sends up").len(), 3);
    assert_eq!(give_up(harness).await.len(), 2);
}

/// Checks that the sender of each part and thread of a settled send is known, in its chat only, also to other tenants.
pub async fn a_message_is_of_the_agent_whose_send_made_it(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    let bob = sends.cast.stranger("bob").await;
    grant(&sends.cast, &bob, "c2", Principal::Any).await;
    let sender = async |chat: &str, id: &str| {
        let (bot, chat, id) = (sends.cast.bot.id, chat.to_owned(), id.to_owned());
        let message = BotMessage { bot, chat, id };
        harness.gate().find_message_sender(&message).await.expect("find a sender")
    };
    let (_, key) = sends.ask("r1").await;
    claim(harness, &key, &owner).await;
    let receipt = |message: &str, thread: Option<&str>| Receipt {
        message_id: Some(message.to_owned()),
        thread_id: thread.map(str::to_owned),
        ..Receipt::default()
    };
    assert_eq!(sender("c1", "m1").await, None, "it has no receipt yet");
    let said = vec![receipt("m1", None), receipt("m2", Some("t1"))];
    let partly = SendResult::InParts(SentParts { said, of: 3 });
    assert!(settle(harness, &key, &owner.node, &partly).await);
    let bobs = sends.send(&bob, "r1", "c2".to_owned()).await;
    ask(harness, &bobs).await;
    claim(harness, &SendKey::from(&bobs), &owner).await;
    settle(harness, &SendKey::from(&bobs), &owner.node, &delivered()).await;

    let ann = Some((sends.ann.scope, sends.ann.agent));
    for id in ["m1", "m2", "t1"] {
        assert_eq!(sender("c1", id).await, ann, "{id}");
    }
    assert_eq!(sender("t1", "t1").await, ann, "a thread is a chat, too");
    assert_eq!(sender("c2", "m1").await, Some((bob.scope, bob.agent)), "the same id elsewhere");
    assert_eq!(sender("c2", "m2").await, None, "another chat");
    assert_eq!(sender("c1", "m3").await, None, "it was not sent");
}

/// Checks that the receipt of an edit makes the agent the sender of nothing.
pub async fn a_change_of_a_message_makes_no_sender(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let owner = sends.owner("node-1").await;
    let granted = GrantTarget::for_chat(None, "c1");
    let register = harness.register();
    let allowed = register.allow_moderation(sends.cast.on_bot(&sends.ann), &granted).await;
    assert!(allowed.expect("allow moderation"));
    let op = Op::Edit { message_id: "m1".to_owned(), content: "new".to_owned() };
    let edit = sends.admit(&sends.ann, "r1", Send { op, ..send_to("c1") }).await;
    assert_eq!(ask(harness, &edit).await, SendState::New);
    claim(harness, &SendKey::from(&edit), &owner).await;
    assert!(settle(harness, &SendKey::from(&edit), &owner.node, &delivered()).await);

    let (bot, chat, id) = (sends.cast.bot.id, "c1".to_owned(), "m1".to_owned());
    let sender = harness.gate().find_message_sender(&BotMessage { bot, chat, id }).await;
    assert_eq!(sender.expect("find a sender"), None);
}

/// The node that receives the requests.
const ASKED_ON: &str = "node-9";

const LIFE: Duration = Duration::from_hours(24 * 365);

/// Ann, who may write to the chat `c1`.
pub(super) struct Sends<'h> {
    pub(super) cast: Cast<'h>,
    pub(super) ann: Person,
}

impl<'h> Sends<'h> {
    pub(super) async fn of(harness: &'h impl Harness) -> Self {
        let cast = Cast::of(harness).await;
        let ann = cast.person("ann").await;
        grant(&cast, &ann, "c1", Principal::Any).await;
        Self { cast, ann }
    }

    /// Begins a node's next life.
    pub(super) async fn node(&self, name: &str) -> Node {
        let epoch = self.cast.harness.lease().begin(name, LIFE).await.expect("begin a life");
        Node { name: name.to_owned(), epoch }
    }

    /// Makes a node the owner of the bot, in a new life.
    pub(super) async fn owner(&self, name: &str) -> Owner {
        let (lease, node) = (self.cast.harness.lease(), self.node(name).await);
        let owner = lease.find_or_claim(Resource::Bot(self.cast.bot.id), &node).await;
        owner.expect("own a bot").expect("it lives")
    }

    /// Requests a new send of ann's.
    pub(super) async fn ask(&self, name: &str) -> (AdmittedSend, SendKey) {
        let send = self.send(&self.ann, name, "c1".to_owned()).await;
        assert_eq!(ask(self.cast.harness, &send).await, SendState::New);
        let key = SendKey::from(&send);
        (send, key)
    }

    /// Returns a send that the gate admits.
    async fn send(&self, person: &Person, name: &str, chat_id: String) -> AdmittedSend {
        self.admit(person, name, Send { chat_id, ..send_to("") }).await
    }

    async fn admit(&self, person: &Person, name: &str, send: Send) -> AdmittedSend {
        let (any, through) = ([BotTag::default()], Some(self.cast.bot.id));
        let Person { scope, agent, .. } = *person;
        let sender = Sender { scope, agent, hellos: &any, tag: &any[0], through };
        let gate = Gate::new(self.cast.harness.gate());
        gate.admit_send(sender, request(name), send).await.expect("it may write there")
    }
}

fn request(name: &str) -> RequestId {
    RequestId::new(name).expect("it is short")
}

pub(super) fn delivered() -> SendResult {
    SendResult::Delivered(Receipt { message_id: Some("m1".to_owned()), ..Receipt::default() })
}

pub(super) async fn ask(harness: &dyn Harness, send: &AdmittedSend) -> SendState {
    harness.egress().record_request(send, ASKED_ON).await.expect("ask for a send")
}

async fn look(harness: &dyn Harness, key: &SendKey) -> SendState {
    let state = harness.egress().send_state(key).await.expect("look at a send");
    state.expect("it was requested")
}

pub(super) async fn claim(harness: &dyn Harness, key: &SendKey, owner: &Owner) -> bool {
    harness.egress().claim(key, owner).await.expect("claim a send")
}

pub(super) async fn settle(
    harness: &dyn Harness,
    key: &SendKey,
    node: &Node,
    settled: &SendResult,
) -> bool {
    harness.egress().settle(key, node, settled).await.expect("settle a send")
}

async fn waiting(harness: &dyn Harness, node: &Node) -> Vec<WaitingSend> {
    harness.egress().waiting_sends(node, 64).await.expect("find waiting sends")
}

async fn ownerless(harness: &dyn Harness) -> Vec<BotId> {
    harness.egress().ownerless_bots(64).await.expect("find bots without an owner")
}

async fn give_up(harness: &dyn Harness) -> Vec<AbandonedSend> {
    harness.egress().abandon_sends(64).await.expect("give sends up")
}

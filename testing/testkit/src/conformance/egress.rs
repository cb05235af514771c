//! What the store of sends promises.

use nightdesk_egress::{Asked, LeftOver, Owner, Parts, SendKey, Settled};
use nightdesk_gate::{AdmittedSend, Gate, Sender, Tag};
use nightdesk_port::Receipt;
use nightdesk_register::Access;
use nightdesk_types::{NodeEpoch, RequestId, Send};
use tokio::task::JoinSet;

use super::Harness;
use super::cast::{Cast, Person};
use super::gate::grant;
use crate::builders::send_to;

/// A send is written down once per request, and a repeat gets what came of it.
pub async fn a_repeat_gets_what_came_of_the_first(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (send, key) = sends.ask("r1").await;
    assert_eq!(ask(harness, &send).await, Asked::UnderWay, "nobody is at it yet");
    assert!(claim(harness, &key, &owner(1)).await);
    assert_eq!(ask(harness, &send).await, Asked::UnderWay, "the call is being made");
    assert!(settle(harness, &key, &owner(1), &delivered()).await);

    assert_eq!(ask(harness, &send).await, Asked::Settled(delivered()));
    let other = sends.send(&sends.ann, "r1", send_to("c1").chat_id).await;
    assert_eq!(ask(harness, &other).await, Asked::Settled(delivered()), "by its name alone");
}

/// The same name by another agent is another send.
pub async fn requests_of_two_agents_do_not_meet(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (_, anns) = sends.ask("r1").await;
    let bob = sends.cast.person("bob").await;
    grant(&sends.cast, &bob, "c2", Access::Any).await;
    let bobs = sends.send(&bob, "r1", "c2".to_owned()).await;

    assert_eq!(ask(harness, &bobs).await, Asked::New);
    assert!(claim(harness, &anns, &owner(1)).await);
    assert!(claim(harness, &SendKey::from(&bobs), &owner(1)).await);
    let foreign = SendKey { scope: bob.scope, ..anns };
    assert!(!settle(harness, &foreign, &owner(1), &delivered()).await);
}

/// A send that failed or is in doubt is settled too.
pub async fn every_outcome_is_kept(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let outcomes = [
        delivered(),
        Settled::Delivered(Receipt::default()),
        Settled::InParts(Parts { said: vec![Receipt::default()], of: 3 }),
        Settled::Failed("message refused by the platform: 50013".to_owned()),
        Settled::Ambiguous,
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let (send, key) = sends.ask(&format!("r{number}")).await;
        claim(harness, &key, &owner(1)).await;
        assert!(settle(harness, &key, &owner(1), &outcome).await);
        assert_eq!(ask(harness, &send).await, Asked::Settled(outcome));
    }
}

/// Of several who want to make the call, one gets it; nobody ever again.
pub async fn a_send_is_claimed_once(harness: &impl Harness) {
    const CLAIMERS: i64 = 8;
    let sends = Sends::of(harness).await;
    let (_, key) = sends.ask("r1").await;
    let mut claimers = JoinSet::new();
    for epoch in 1..=CLAIMERS {
        let (store, key) = (harness.egress(), key.clone());
        claimers
            .spawn(async move { store.claim(&key, &owner(epoch)).await.expect("claim a send") });
    }

    let got = claimers.join_all().await.into_iter().filter(|got| *got).count();
    assert_eq!(got, 1);
    assert!(!claim(harness, &key, &owner(9)).await);
    let unasked = SendKey { request: request("never asked for"), ..key };
    assert!(!claim(harness, &unasked, &owner(1)).await);
}

/// Only who makes the call settles it, in the same life, once.
pub async fn only_the_claimer_settles(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (send, key) = sends.ask("r1").await;
    assert!(!settle(harness, &key, &owner(1), &delivered()).await, "nobody claimed it");
    claim(harness, &key, &owner(2)).await;
    let elsewhere = Owner { node: "node-2".to_owned(), ..owner(2) };
    for (name, other) in [("earlier", owner(1)), ("later", owner(3)), ("elsewhere", elsewhere)] {
        assert!(!settle(harness, &key, &other, &Settled::Ambiguous).await, "{name}");
    }

    assert!(settle(harness, &key, &owner(2), &delivered()).await);
    assert!(!settle(harness, &key, &owner(2), &Settled::Ambiguous).await, "a second time");
    assert_eq!(ask(harness, &send).await, Asked::Settled(delivered()));
}

/// A call that an earlier life of the node had begun is found, and of no other node's.
pub async fn a_call_of_an_earlier_life_is_left_over(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (send, key) = sends.ask("r1").await;
    let (_, asked) = sends.ask("r2").await;
    claim(harness, &key, &owner(2)).await;
    let elsewhere = Owner { node: "node-2".to_owned(), ..owner(3) };
    for (name, by) in
        [("this life", owner(2)), ("an older one", owner(1)), ("elsewhere", elsewhere)]
    {
        assert_eq!(left_over(harness, &by).await, [], "{name}");
    }

    let (bot, send) = (sends.cast.bot.id, send.send().clone());
    let want = LeftOver { key: key.clone(), bot, send, was_called: true };
    assert_eq!(left_over(harness, &owner(3)).await, [want]);
    settle(harness, &key, &owner(2), &delivered()).await;
    assert_eq!(left_over(harness, &owner(3)).await, [], "it was settled after all");
    assert!(claim(harness, &asked, &owner(3)).await, "what was just asked for is not touched");
}

/// A call given up is ambiguous, and is never made again.
pub async fn what_is_given_up_is_never_called_again(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (send, key) = sends.ask("r1").await;
    claim(harness, &key, &owner(2)).await;
    give_up(harness, &key, &owner(2)).await;
    assert_eq!(ask(harness, &send).await, Asked::UnderWay, "this life is at it");

    give_up(harness, &key, &owner(3)).await;
    assert_eq!(ask(harness, &send).await, Asked::Settled(Settled::Ambiguous));
    for epoch in [2, 3, 4] {
        assert!(!claim(harness, &key, &owner(epoch)).await, "no second claim, ever");
        assert!(!settle(harness, &key, &owner(epoch), &delivered()).await, "too late");
    }
    assert_eq!(left_over(harness, &owner(4)).await, []);
}

/// What was settled or never called cannot be given up.
pub async fn only_a_begun_call_is_given_up(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    let (asked, asked_key) = sends.ask("r1").await;
    let (settled, settled_key) = sends.ask("r2").await;
    claim(harness, &settled_key, &owner(1)).await;
    settle(harness, &settled_key, &owner(1), &delivered()).await;
    give_up(harness, &asked_key, &owner(2)).await;
    give_up(harness, &settled_key, &owner(2)).await;

    assert_eq!(ask(harness, &asked).await, Asked::UnderWay);
    assert_eq!(ask(harness, &settled).await, Asked::Settled(delivered()));
    assert!(claim(harness, &asked_key, &owner(2)).await);
}

/// One sweep finds no more than it looks after.
pub async fn a_sweep_is_bounded(harness: &impl Harness) {
    let sends = Sends::of(harness).await;
    for number in 0..5 {
        let (_, key) = sends.ask(&format!("r{number}")).await;
        claim(harness, &key, &owner(1)).await;
    }

    let found = harness.egress().left_over(&owner(2), 3).await.expect("find forgotten sends");
    assert_eq!(found.len(), 3);
}

/// Ann, who may write to the chat `c1`.
pub(super) struct Sends<'h> {
    pub(super) cast: Cast<'h>,
    pub(super) ann: Person,
}

impl<'h> Sends<'h> {
    pub(super) async fn of(harness: &'h impl Harness) -> Self {
        let cast = Cast::of(harness).await;
        let ann = cast.person("ann").await;
        grant(&cast, &ann, "c1", Access::Any).await;
        Self { cast, ann }
    }

    /// Asks for a new send of ann's.
    pub(super) async fn ask(&self, name: &str) -> (AdmittedSend, SendKey) {
        let send = self.send(&self.ann, name, "c1".to_owned()).await;
        assert_eq!(ask(self.cast.harness, &send).await, Asked::New);
        let key = SendKey::from(&send);
        (send, key)
    }

    /// A send that the gate admits.
    async fn send(&self, person: &Person, name: &str, chat_id: String) -> AdmittedSend {
        let (greeted, tag) = ([self.cast.bot.id], Tag::default());
        let Person { scope, agent, .. } = *person;
        let sender = Sender { scope, agent, greeted: &greeted, tag: &tag };
        let send = Send { chat_id, ..send_to("") };
        let gate = Gate::over(self.cast.harness.gate());
        gate.admit_send(sender, request(name), send).await.expect("it may write there")
    }
}

fn request(name: &str) -> RequestId {
    RequestId::new(name).expect("it is short")
}

/// A life of the first node.
pub(super) fn owner(epoch: i64) -> Owner {
    Owner { node: "node-1".to_owned(), epoch: NodeEpoch::new(epoch) }
}

pub(super) fn delivered() -> Settled {
    Settled::Delivered(Receipt { message_id: Some("m1".to_owned()), ..Receipt::default() })
}

pub(super) async fn ask(harness: &dyn Harness, send: &AdmittedSend) -> Asked {
    harness.egress().ask(send).await.expect("ask for a send")
}

pub(super) async fn claim(harness: &dyn Harness, key: &SendKey, owner: &Owner) -> bool {
    harness.egress().claim(key, owner).await.expect("claim a send")
}

pub(super) async fn settle(
    harness: &dyn Harness,
    key: &SendKey,
    owner: &Owner,
    settled: &Settled,
) -> bool {
    harness.egress().settle(key, owner, settled).await.expect("settle a send")
}

pub(super) async fn left_over(harness: &dyn Harness, owner: &Owner) -> Vec<LeftOver> {
    harness.egress().left_over(owner, 64).await.expect("find forgotten sends")
}

async fn give_up(harness: &dyn Harness, key: &SendKey, owner: &Owner) {
    harness.egress().give_up(key, owner).await.expect("give a send up");
}

//! Checks the storing of events in an inbox.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_gate::{
    AdmitError, BotMessage, BotPrompt, Gate, Reach, ReachChange, Recipient, RefusalNote, Store,
    StoredRefusal, bot_reach,
};
use nightdesk_inbox::{
    AcceptRequest, AuthorPace, ParkReason, PutOutcome, ReadRequest, ReadResponse, StoredEntry,
};
use nightdesk_protocol::event::encode;
use nightdesk_testkit::builders::{EventBuilder, event, everybodys};
use nightdesk_types::event::{ChatType, Source};
use nightdesk_types::limits::INBOX_ENTRIES_MAX;
use nightdesk_types::{AgentId, BotId, Principal, Quota, Seq, StoreError, TenantScope};

use crate::Harness;
use crate::cast::{Cast, Person, id_of};
use crate::gate::grant;

/// Checks that each event gets the next number of its agent, beginning with one.
pub async fn numbers_are_consecutive_from_one(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;

    for number in [1, 2, 3] {
        let stored = cast.stored(&ann.says(number)).await;
        assert_eq!((stored.scope, stored.agent), (ann.scope, ann.agent));
        assert_eq!((stored.seq, stored.parked), (seq(number), false));
    }
    let other = cast.stored(&bob.says(4)).await;
    assert_eq!(other.seq, seq(1), "every inbox counts by itself");
}

/// Checks that an entry has the event's content, its chat, and its acceptance time, which never goes back.
pub async fn an_entry_holds_what_was_said(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let said = ann.says(1).in_chat("c7").saying("good morning");
    let first = cast.stored(&said).await;
    let second = cast.stored(&ann.says(2)).await;

    let entries = cast.waiting(&cast.line(&ann).await).await;
    let verified = said.verified(&cast.bot);
    let json = encode(verified.get(), verified.handle()).expect("a client could take it");
    assert_eq!(entries[0].json.as_deref(), Ok(&json));
    assert_eq!((entries[0].bot, entries[0].chat_id.as_str()), (cast.bot.id, "c7"));
    assert_eq!((entries[0].at, entries[1].at), (first.at, second.at));
    assert!(first.at <= second.at, "time never goes back in an inbox");
}

/// Checks that several recipients, also of several tenants, get one entry each.
pub async fn recipients_of_two_tenants_get_one_entry_each(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&bob, 2).await;
    assert!(grant(&cast, &bob, "c1", Principal::Any).await, "the chat was free");

    let in_a_group = |source: &mut Source| {
        source.chat_type = ChatType::Group;
        source.scope_id = Some("g1".to_owned());
    };
    let said = ann.says(9).with_source(in_a_group);
    let PutOutcome::Stored(stored) = cast.put(&said).await else { panic!("it is new") };
    let mut got: Vec<_> = stored.iter().map(|stored| (stored.agent, stored.seq)).collect();
    let mut want = [(ann.agent, seq(1)), (bob.agent, seq(3))];
    got.sort();
    want.sort();
    assert_eq!(got, want);
    for (person, numbers) in [(&ann, vec![1]), (&bob, vec![1, 2, 3])] {
        let line = cast.line(person).await;
        assert_eq!(cast.numbers(&line).await, numbers, "{}", person.author);
    }
}

/// Checks that a duplicate takes no number and stores nothing: the first one counts.
pub async fn a_duplicate_takes_no_number(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;

    assert_eq!(cast.put(&ann.says(1).saying("something else")).await, PutOutcome::Duplicate);
    assert_eq!(cast.stored(&ann.says(2)).await.seq, seq(2));
    let line = cast.line(&ann).await;
    assert_eq!(cast.numbers(&line).await, [1, 2]);
}

/// Checks that a batch may hold the same event twice: the first one counts.
pub async fn a_duplicate_in_its_own_batch_takes_no_number(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let batch = cast.accepts([ann.says(1), ann.says(1), ann.says(2)]).await;

    let puts = cast.accept(&batch).await;
    assert!(
        matches!(puts[..], [PutOutcome::Stored(_), PutOutcome::Duplicate, PutOutcome::Stored(_)]),
        "{puts:?}"
    );
    let line = cast.line(&ann).await;
    assert_eq!(cast.numbers(&line).await, [1, 2]);
}

/// Checks that keys belong to a bot: the same key of another bot is another event.
pub async fn the_same_key_of_another_bot_is_another_event(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;
    cast.bot = cast.another_bot("other-bot").await;
    cast.bind(&ann, "ann").await;

    assert_eq!(cast.stored(&ann.says(1)).await.seq, seq(2));
    assert_eq!(cast.put(&ann.says(1)).await, PutOutcome::Duplicate);
}

/// Checks that an admission decided before a restriction of the agent's access is refused, and can be decided again:
/// the key is not taken.
pub async fn a_stale_admit_is_refused_and_decided_again(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.stranger("bob").await;
    cast.bind(&bob, "ann").await;
    let gate = Gate::new(harness.gate());
    let decided = ann.says(1).admitted(&cast.bot, &gate).await.expect("ann is bound");
    cast.unbind(&ann, "ann").await;

    let stale = AcceptRequest::from_event(&decided, None);
    assert_eq!(cast.accept(&[stale]).await, [PutOutcome::Stale]);
    assert_eq!(heads(&cast, &[&ann, &bob]).await, [0, 0]);
    let again = gate.admit_again(decided, None).await.expect("bob's agent is bound too");
    let puts = cast.accept(&[AcceptRequest::from_event(&again, None)]).await;
    let PutOutcome::Stored(stored) = &puts[0] else {
        panic!("it is decided on what is so: {puts:?}")
    };
    assert_eq!((stored[0].agent, stored[0].seq), (bob.agent, seq(1)));
    cast.unbind(&bob, "ann").await;
    let refused = gate.admit_again(again, None).await.map(drop);
    assert!(matches!(refused, Err((_, AdmitError::Refused(_)))), "nobody is left: {refused:?}");
}

/// Checks that after a change about an agent on one bot, an event through another bot is decided again and stored.
pub async fn a_change_on_one_bot_keeps_nothing_from_another(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let gate = Gate::new(harness.gate());
    let first = cast.bot.clone();
    let decided = ann.says(1).admitted(&first, &gate).await.expect("ann is bound");
    cast.bot = cast.another_bot("other-bot").await;
    cast.bind(&ann, "ann").await;

    assert_eq!(
        cast.accept(&[AcceptRequest::from_event(&decided, None)]).await,
        [PutOutcome::Stale]
    );
    let again = gate.admit_again(decided, None).await.expect("ann is still bound");
    let puts = cast.accept(&[AcceptRequest::from_event(&again, None)]).await;
    assert!(matches!(&puts[..], [PutOutcome::Stored(_)]), "{puts:?}");
}

/// Checks that every event of a batch gets its own outcome.
pub async fn each_event_of_a_batch_gets_its_outcome(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.stored(&bob.says(1)).await;
    let stale = cast.accept_of(&ann.says(2)).await;
    cast.unbind(&ann, "ann").await;
    let mut batch = vec![stale];
    for number in [1, 3, 4] {
        batch.push(cast.accept_of(&bob.says(number)).await);
    }

    let puts = cast.accept(&batch).await;
    assert_eq!(puts[..2], [PutOutcome::Stale, PutOutcome::Duplicate]);
    let numbers: Vec<Seq> = puts[2..].iter().flat_map(stored).map(|stored| stored.seq).collect();
    assert_eq!(numbers, [seq(2), seq(3)], "numbers are given in the order of the batch");
}

fn stored(put: &PutOutcome) -> &[StoredEntry] {
    match put {
        PutOutcome::Stored(stored) => stored,
        PutOutcome::Duplicate | PutOutcome::Stale | PutOutcome::Fenced => &[],
    }
}

/// Checks that a batch with an unknown recipient fails as a whole and leaves nothing behind, not even its events' keys.
pub async fn an_unknown_recipient_fails_the_batch_and_nothing_is_stored(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let good = cast.accept_of(&ann.says(1)).await;
    let lost = accept_for_a_ghost(&cast, &ann.says(2)).await;

    let failed = harness.inbox().accept(&[good.clone(), lost]).await;
    assert!(failed.is_err(), "there is no such agent: {failed:?}");
    assert_eq!(heads(&cast, &[&ann]).await, [0]);
    assert_eq!(stored(&cast.accept(&[good]).await[0])[0].seq, seq(1));
    assert_eq!(cast.stored(&ann.says(2)).await.seq, seq(2), "its key is not taken");
}

/// Returns an event that the gate admits for an agent that no store knows.
pub(super) async fn accept_for_a_ghost(cast: &Cast<'_>, event: &EventBuilder) -> AcceptRequest {
    let scope = cast.operator;
    let agent = AgentId::from_uuid(id_of("agent", "ghost"));
    let gate = Gate::new(Arc::new(Haunted(Recipient { scope, agent, version: 0 })));
    let admitted = event.admitted(&cast.bot, &gate).await.expect("the ghost is bound");
    AcceptRequest::from_event(&admitted, None)
}

/// A store with one agent that does not exist.
struct Haunted(Recipient);

#[async_trait]
impl Store for Haunted {
    async fn read_changes(&self, _: BotId, _: Option<i64>) -> Result<ReachChange, StoreError> {
        Ok(everybodys(self.0))
    }

    async fn changed_bots(&self, _: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError> {
        Ok(Vec::new())
    }

    async fn find_reaches(
        &self,
        _: TenantScope,
        _: AgentId,
        _: &str,
    ) -> Result<Vec<Reach>, StoreError> {
        Ok(Vec::new())
    }

    async fn takes_part(
        &self,
        _: TenantScope,
        _: AgentId,
        _: BotId,
        _: &str,
    ) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn record_prompt(
        &self,
        _: TenantScope,
        _: AgentId,
        _: BotPrompt<'_>,
    ) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn find_prompt_agent(
        &self,
        _: BotPrompt<'_>,
    ) -> Result<Option<bot_reach::ScopedAgent>, StoreError> {
        Ok(None)
    }

    async fn find_message_sender(
        &self,
        _: &BotMessage,
    ) -> Result<Option<bot_reach::ScopedAgent>, StoreError> {
        Ok(None)
    }

    async fn read_refusals(
        &self,
        _: TenantScope,
        _: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError> {
        Ok(Vec::new())
    }

    async fn note_refusals(&self, _: &[RefusalNote]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Checks that a full inbox parks new events, and that its entries are not touched.
pub async fn a_full_inbox_parks_what_comes(harness: &impl Harness) {
    const BATCH: usize = 500;
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let full = usize::try_from(INBOX_ENTRIES_MAX).expect("a limit is not negative");
    let all = cast.accepts((1..full).map(|number| ann.says(number))).await;
    for batch in all.chunks(BATCH) {
        cast.accept(batch).await;
    }

    for (number, parked) in [(full, false), (full + 1, true), (full + 2, true)] {
        let stored = cast.stored(&ann.says(number)).await;
        assert_eq!((stored.seq, stored.parked), (seq(number), parked));
    }
    let aside = harness.parked(ann.scope, ann.agent).await;
    assert_eq!(aside, [full + 1, full + 2].map(|number| (seq(number), ParkReason::Full)));
    let line = cast.line(&ann).await;
    let last = ReadRequest { after: seq(full - 1), ..line.ask() };
    let ReadResponse::Entries(entries) = cast.ask(last).await else {
        panic!("the line is the newest")
    };
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [seq(full)]);
    cast.ack(&line, &[(1, INBOX_ENTRIES_MAX)]).await;
    assert!(!cast.stored(&ann.says(full + 3)).await.parked, "there is room again");
}

/// Checks that an entry whose frame no client could take is parked at once, and that the next one arrives.
pub async fn an_unsendable_entry_is_parked_and_the_next_arrives(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let huge = ann.says(1).saying("x".repeat(600 * 1024));

    let parked = cast.stored(&huge).await;
    assert_eq!((parked.seq, parked.parked), (seq(1), true));
    assert_eq!(cast.put(&huge).await, PutOutcome::Duplicate, "it was taken");
    cast.stored(&ann.says(2)).await;
    let line = cast.line(&ann).await;
    assert_eq!(cast.numbers(&line).await, [2]);
    let aside = harness.parked(ann.scope, ann.agent).await;
    assert_eq!(aside, [(seq(1), ParkReason::Unsendable)]);
}

/// Checks that entries far over their author's rate limit are parked with that reason, count as stored, and take no room
/// from others.
pub async fn entries_far_over_their_authors_limit_are_parked_and_leave_room(
    harness: &impl Harness,
) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    for (quota, allowed) in [(Quota::PendingEntries, 2), (Quota::PendingBytes, 20_000)] {
        harness.register().set_quota(ann.scope, quota, allowed).await.expect("set a quota");
    }
    cast.stored(&ann.says(1)).await;
    let flood = (2..=6).map(|number| ann.says(number).saying("x".repeat(15_000)));
    let flood = cast.accepts(flood).await.into_iter();
    let flood: Vec<_> = flood.map(|accept| accept.with_paces(&[AuthorPace::Park])).collect();
    for put in cast.accept(&flood).await {
        let PutOutcome::Stored(stored) = put else { panic!("it is new") };
        assert!(stored[0].parked);
    }
    assert_eq!(cast.accept(&flood).await, vec![PutOutcome::Duplicate; 5]);

    for (number, is_parked) in [(7, false), (8, true)] {
        let stored = cast.stored(&ann.says(number)).await;
        assert_eq!((stored.seq, stored.parked), (seq(number), is_parked));
    }
    let aside = harness.parked(ann.scope, ann.agent).await;
    let flood = (2..=6).map(|number| (seq(number), ParkReason::RateLimit));
    assert_eq!(aside, flood.chain([(seq(8), ParkReason::Full)]).collect::<Vec<_>>());
    assert_eq!(cast.numbers(&cast.line(&ann).await).await, [1, 7]);
}

/// Checks that a head is the last number given out, and zero for an empty or unknown inbox.
pub async fn heads_are_the_last_numbers_given_out(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&ann, 2).await;
    cast.put(&event().from("ann").keyed("k1")).await;
    let foreign = Person { scope: bob.scope, ..ann.clone() };

    assert_eq!(heads(&cast, &[&bob, &ann, &foreign]).await, [0, 2, 0]);
}

pub(super) async fn heads(cast: &Cast<'_>, of: &[&Person]) -> Vec<i64> {
    let agents: Vec<_> = of.iter().map(|person| (person.scope, person.agent)).collect();
    let heads = cast.harness.inbox().read_heads(&agents).await.expect("look at inboxes");
    heads.into_iter().map(Seq::get).collect()
}

pub(super) fn seq(number: usize) -> Seq {
    Seq::new(i64::try_from(number).expect("checks count to small numbers"))
}

//! Promises about the records that the pages of operators and tenants read.

mod stuck;

use std::time::Duration;

use nightdesk_letters::{LetterEntry, NewLetter, Party, Posting, Route};
use nightdesk_office::{AgentGlance, AgentSelection, BoundedCount, TenantGlance, UsageTotals};
use nightdesk_protocol::delivery::PayloadKind;
use nightdesk_register::AgentOnBot;
use nightdesk_types::limits::{CALL_GAP, LIST_ROWS_MAX, WAKES_LOGGED_MAX};
use nightdesk_types::{
    BotId, GrantTarget, LetterId, Principal, Seq, TenantScope, Timestamp, Transport,
};
use nightdesk_wake::{WakeSelection, WakeTerms};

use super::cast::{Cast, Person, id_of};
use super::{Harness, TimedHarness};

pub use stuck::*;

/// A lease that no check outlasts.
const LIFE: Duration = Duration::from_hours(24 * 365);

const TERMS: WakeTerms = WakeTerms {
    has_command: true,
    wakes_per_hour: 1_000,
    still_waking_after: Duration::from_hours(1),
};

async fn begin_node(harness: &dyn Harness) {
    harness.lease().begin("node-1", LIFE).await.expect("a node begins");
}

async fn tenant_glance(harness: &dyn Harness, scope: TenantScope) -> TenantGlance {
    harness.office().glance_at_tenant(scope).await.expect("count the agents of a tenant")
}

async fn agents(
    harness: &dyn Harness,
    scope: TenantScope,
    which: AgentSelection<'_>,
) -> Vec<AgentGlance> {
    harness.office().glance_at_agents(scope, which).await.expect("list agents")
}

fn names(glances: &[AgentGlance]) -> Vec<&str> {
    glances.iter().map(|glance| glance.status.name.as_str()).collect()
}

fn count(count: u64) -> BoundedCount {
    BoundedCount { count, is_more: false }
}

/// Claims the wake of a person's agent, and records the outcome of the call.
async fn call(harness: &dyn Harness, person: &Person) {
    let which = WakeSelection::Of(person.scope, person.agent);
    let claim = harness.wake().claim(which, &TERMS).await.expect("claim a wake").pop();
    let claim = claim.expect("the wake is due");
    let recorded = harness.wake().record_outcome(&claim, "200 in 3 ms", CALL_GAP).await;
    recorded.expect("record a call");
}

/// Agents are counted by their state, entries by their fate, and another tenant's not at all.
pub async fn agents_are_counted_by_their_state(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    begin_node(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let one = TenantGlance { agents: count(1), ..TenantGlance::default() };
    assert_eq!(tenant_glance(harness, ann.scope).await, one);
    let first = cast.stored(&ann.says(1)).await;
    cast.stored(&ann.says(2)).await;
    cast.stored(&bob.says(3)).await;

    let oldest_at = Some(first.at);
    let waking = TenantGlance { waking: count(1), waiting: count(2), oldest_at, ..one };
    assert_eq!(tenant_glance(harness, ann.scope).await, waking);
    let line = cast.line(&ann).await;
    let awake = TenantGlance { awake: count(1), waking: count(0), ..waking };
    assert_eq!(tenant_glance(harness, ann.scope).await, awake);
    let suspect = harness.wake().suspect(ann.scope, ann.agent, line.claim.generation).await;
    suspect.expect("suspect a line");
    let deaf = TenantGlance { deaf: count(1), ..awake };
    assert_eq!(tenant_glance(harness, ann.scope).await, deaf);
    let parked = harness.aside().park_waiting(ann.scope, ann.agent, Seq::new(1)).await;
    assert!(parked.expect("park an entry"));
    cast.ack(&line, &[(2, 2)]).await;
    let left = tenant_glance(harness, ann.scope).await;
    assert_eq!((left.waiting, left.oldest_at, left.parked), (count(0), None, count(1)));
    let again = harness.aside().resubmit(ann.scope, ann.agent, Seq::new(1)).await;
    assert!(again.expect("resubmit an entry").is_some());
    assert_eq!(tenant_glance(harness, ann.scope).await.parked, count(0));
}

/// A prefix is no pattern, and names are in the order of their code points.
pub async fn a_prefix_is_compared_as_it_is_written(harness: &impl Harness) {
    let (cast, last) = (Cast::of(harness).await, char::MAX);
    let ann = cast.person("ann").await;
    let ends = ["", "%", "%x", "_", "\\", "B", "b", "\u{e9}", "\u{d7ff}", "\u{e000}"];
    let mut all = vec!["ann".to_owned(), format!("a{last}"), format!("a{last}b")];
    all.extend(ends.map(|end| format!("owl{end}")));
    all.extend([format!("owl{last}"), format!("{last}"), format!("{last}{last}")]);
    for name in all.iter().skip(1) {
        harness.register().create_agent(ann.scope, name).await.expect("enter an agent");
    }
    all.sort();
    let last = last.to_string();
    let prefixes =
        ["", "a", "owl", "OWL", "owl%", "%", "_", "owl_", "owl\\", "owlb", "o%", "owl\u{e9}"];
    let highest = ["owl\u{d7ff}", &last, &format!("{last}{last}"), &format!("a{last}")];

    for prefix in prefixes.iter().chain(&highest).copied() {
        let found = agents(harness, ann.scope, AgentSelection::Named { prefix, after: "" }).await;
        let expected: Vec<_> = all.iter().filter(|name| name.starts_with(prefix)).collect();
        assert_eq!(names(&found), expected, "{prefix:?}");
    }
}

/// Agents are found by the beginning of their names, in pages, and by their states.
pub async fn agents_are_selected_by_name_and_by_state(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    begin_node(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    for name in ["owl", "ape", "owlet"] {
        harness.register().create_agent(ann.scope, name).await.expect("enter an agent");
    }
    let named = |prefix, after| AgentSelection::Named { prefix, after };

    assert_eq!(
        names(&agents(harness, ann.scope, named("", "")).await),
        ["ann", "ape", "owl", "owlet"]
    );
    assert_eq!(names(&agents(harness, ann.scope, named("", "ape")).await), ["owl", "owlet"]);
    assert_eq!(names(&agents(harness, ann.scope, named("owl", "")).await), ["owl", "owlet"]);
    assert_eq!(names(&agents(harness, ann.scope, named("owl", "owl")).await), ["owlet"]);
    assert_eq!(names(&agents(harness, ann.scope, named("owl", "owm")).await), [""; 0]);
    assert_eq!(names(&agents(harness, bob.scope, named("", "")).await), ["bob"]);
    for which in [AgentSelection::Needed, AgentSelection::Awake] {
        assert_eq!(agents(harness, ann.scope, which).await, []);
    }
    let stored = cast.stored(&ann.says(1)).await;
    let needed = agents(harness, ann.scope, AgentSelection::Needed).await;
    assert_eq!((names(&needed), needed[0].waiting), (vec!["ann"], count(1)));
    assert_eq!((needed[0].oldest_at, needed[0].status.waiting), (Some(stored.at), 1));
    assert_eq!(needed[0].status.wake.as_ref().map(|wake| wake.state.as_str()), Some("due"));
    cast.line(&ann).await;
    let awake = agents(harness, ann.scope, AgentSelection::Awake).await;
    assert_eq!(
        (names(&awake), awake[0].status.transport),
        (vec!["ann"], Some(Transport::WebSocket))
    );
    assert_eq!(agents(harness, ann.scope, AgentSelection::Of(ann.agent)).await, awake);
    assert_eq!(agents(harness, bob.scope, AgentSelection::Of(ann.agent)).await, []);
}

/// Each wake that ended is logged with its calls and its times; the oldest ones are replaced.
pub async fn a_wake_that_ended_is_logged(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let log = async |person: &Person| {
        harness.office().logged_wakes(person.scope, ann.agent).await.expect("read the wakes")
    };
    let kept = usize::try_from(WAKES_LOGGED_MAX).expect("a small number");
    for number in 1..=kept + 1 {
        cast.stored(&ann.says(number)).await;
        call(harness, &ann).await;
        let line = cast.line(&ann).await;
        let seq = i64::try_from(number).expect("a small number");
        cast.ack(&line, &[(seq, seq)]).await;
        cast.goes_idle(&line).await;
        harness.let_pass(Duration::from_mins(2)).await;
        let newest = log(&ann).await.into_iter().next().expect("it is logged");
        assert_eq!((newest.number, newest.calls), (seq, 1), "{newest:?}");
        assert_eq!(newest.outcome.as_deref(), Some("200 in 3 ms"));
        assert!(newest.since <= newest.called_at.expect("it was called"), "{newest:?}");
        assert!(newest.called_at <= newest.woken_at && newest.woken_at.is_some(), "{newest:?}");
    }

    let numbers: Vec<i64> = log(&ann).await.iter().map(|wake| wake.number).collect();
    let last = WAKES_LOGGED_MAX + 1;
    assert_eq!(numbers, (2..=last).rev().collect::<Vec<_>>());
    assert_eq!(log(&bob).await, [], "not to another tenant");
}

/// The newest line is shown with its gateway and its end.
pub async fn the_newest_line_is_shown(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    begin_node(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let newest =
        async |scope| harness.office().newest_line(scope, ann.agent).await.expect("read a line");
    assert_eq!(newest(ann.scope).await, None);
    let line = cast.line(&ann).await;

    let open = newest(ann.scope).await.expect("it is there");
    assert_eq!((open.gateway.as_str(), open.node.as_str()), ("ann", "node-1"));
    assert_eq!((open.generation, open.is_open), (line.claim.generation, true));
    assert_eq!(newest(bob.scope).await, None, "not to another tenant");
    cast.goes_idle(&line).await;
    let closed = newest(ann.scope).await.expect("it is there");
    assert_eq!((closed.is_open, closed.parting.as_deref()), (false, Some("idle")));
    assert!(closed.closed_at.is_some());
}

/// Letters are listed to the agent that received them, newest first.
pub async fn received_letters_are_listed_to_their_agent(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let other = harness.register().create_agent(ann.scope, "other").await.expect("enter an agent");
    let from = Party { scope: ann.scope, agent: other };
    for dispatch in ["d1", "d2"] {
        let letter = letter(from, Party { scope: ann.scope, agent: ann.agent }, dispatch);
        harness.letters().put(&[letter]).await.expect("put a letter");
    }

    let list = async |person: &Person, agent| {
        harness.office().received_letters(person.scope, agent).await.expect("list letters")
    };
    let received = list(&ann, ann.agent).await;
    assert_eq!(received.len(), 2);
    assert!(received[0].put_at >= received[1].put_at);
    assert_eq!((received[0].from, received[0].from_name.as_deref()), (other, Some("other")));
    assert_eq!((received[0].from_tenant, received[0].hop), (ann.scope.tenant(), 1));
    assert_eq!(list(&ann, other).await, []);
    assert_eq!(list(&bob, ann.agent).await, [], "not to another tenant");
}

fn letter(from: Party, to: Party, dispatch: &str) -> Posting {
    let id = LetterId::from_uuid(id_of("letter", dispatch));
    let body = br#"{"event":{"text":"x","source":{"platform":"desk","chat_id":"letter:x"}}}"#;
    let entry = LetterEntry {
        bot: BotId::from_uuid(uuid::Uuid::nil()),
        chat_id: format!("letter:{id}"),
        body: body.to_vec(),
    };
    let letter = NewLetter {
        id,
        from,
        to,
        dispatch_id: dispatch.to_owned(),
        route: Route::Deliver,
        kind: PayloadKind::Augment,
        session: None,
        correlation_id: None,
        when: None,
        wait: None,
        by_outlet: false,
    };
    Posting { letter, entry }
}

/// Bindings and grants are listed in pages, with the names of their agents, to their tenant alone.
pub async fn bindings_and_grants_are_listed_to_their_tenant(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    cast.bind(&ann, "ann-2").await;
    let on = AgentOnBot { scope: ann.scope, agent: ann.agent, bot: cast.bot.id };
    for target in [GrantTarget::for_chat(None, "c1"), GrantTarget::for_chat(Some("g"), "*")] {
        let granted = harness.register().grant(on, &target, Some(Principal::Any)).await;
        assert!(granted.expect("grant a chat"));
    }
    let office = harness.office();

    let people = office.tenant_bindings(ann.scope, None).await.expect("list bindings");
    let authors: Vec<&str> = people.iter().map(|row| row.key.author.as_str()).collect();
    assert_eq!((authors, people[0].agent_name.as_str()), (vec!["ann", "ann-2"], "ann"));
    let after = Some(&people[0].key);
    let rest = office.tenant_bindings(ann.scope, after).await.expect("list bindings");
    assert_eq!(rest, people[1..]);
    assert_eq!(office.tenant_bindings(bob.scope, None).await.expect("list bindings").len(), 1);
    let grants = office.tenant_grants(ann.scope, None).await.expect("list grants");
    let chats: Vec<_> =
        grants.iter().map(|row| (row.key.scope.as_str(), row.key.chat.as_str())).collect();
    assert_eq!(chats, [("", "c1"), ("g", "*")]);
    assert_eq!((grants[1].open_to, grants[1].is_moderator), (Principal::Any, false));
    let rest = office.tenant_grants(ann.scope, Some(&grants[0].key)).await.expect("list grants");
    assert_eq!(rest, grants[1..]);
    assert_eq!(office.tenant_grants(bob.scope, None).await.expect("list grants"), []);
}

/// Samples every tenant.
async fn sample(harness: &dyn Harness, every: Duration) {
    let (office, mut after) = (harness.office(), None);
    loop {
        let last = office.sample_usage(after, every).await.expect("sample the usage");
        match last {
            Some(last) => after = Some(last),
            None => return,
        }
    }
}

async fn newest_usage(harness: &dyn Harness, scope: TenantScope) -> Option<UsageTotals> {
    let all = harness.office().usage(scope, Timestamp::UNIX_EPOCH).await.expect("read the usage");
    all.last().copied()
}

/// The totals of a tenant count its messages, its wakes and the time that its agents were awake. Those of the desk are
/// the sum.
pub async fn usage_rises_with_what_happens(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    begin_node(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    cast.several(&ann, 2).await;
    cast.stored(&bob.says(3)).await;
    call(harness, &ann).await;
    let line = cast.line(&ann).await;
    harness.let_pass(Duration::from_mins(3)).await;
    cast.goes_idle(&line).await;
    sample(harness, Duration::ZERO).await;

    let anns = newest_usage(harness, ann.scope).await.expect("it is sampled");
    assert_eq!((anns.agents, anns.messages, anns.wakes, anns.fires), (1, 2, 1, 0));
    assert!((180_000..240_000).contains(&anns.awake_ms), "{anns:?}");
    let bobs = newest_usage(harness, bob.scope).await.expect("it is sampled");
    assert_eq!((bobs.messages, bobs.wakes, bobs.awake_ms), (1, 0, 0));
    let desk = newest_usage(harness, TenantScope::desk_own()).await.expect("it is sampled");
    assert_eq!((desk.messages, desk.wakes), (3, 1));
    let scopes = [ann.scope, bob.scope];
    let both = harness.office().newest_usage(&scopes, Timestamp::UNIX_EPOCH).await;
    let both = both.expect("read the usage of tenants");
    let of = |scope: TenantScope| both.iter().find(|one| one.tenant == scope.tenant());
    assert_eq!((of(ann.scope).map(|one| one.newest), both.len()), (Some(anns), 2));
    assert!(both.iter().all(|one| one.before.is_none()), "{both:?}");
}

/// A tenant is sampled once within the interval, however many nodes sample.
pub async fn usage_is_sampled_once_in_its_time(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let hour = Duration::from_hours(1);
    cast.stored(&ann.says(1)).await;
    sample(harness, hour).await;
    cast.stored(&ann.says(2)).await;

    sample(harness, hour).await;
    assert_eq!(newest_usage(harness, ann.scope).await.map(|one| one.messages), Some(1));
    sample(harness, Duration::ZERO).await;
    assert_eq!(newest_usage(harness, ann.scope).await.map(|one| one.messages), Some(2));
}

/// Nodes are listed with their state and the number of their open lines.
pub async fn nodes_are_listed_with_their_open_lines(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    begin_node(harness).await;
    let epoch = harness.lease().begin("node-2", LIFE).await.expect("a node begins");
    let over = nightdesk_types::Node { name: "node-2".to_owned(), epoch };
    harness.lease().end(&over).await.expect("a node ends");
    let ann = cast.person("ann").await;
    let line = cast.line(&ann).await;

    let nodes = harness.office().nodes().await.expect("list nodes");
    let rows: Vec<_> =
        nodes.iter().map(|node| (node.name.as_str(), node.is_over, node.lines)).collect();
    assert_eq!(rows, [("node-1", false, count(1)), ("node-2", true, count(0))]);
    cast.goes_idle(&line).await;
    assert_eq!(harness.office().nodes().await.expect("list nodes")[0].lines, count(0));
    assert!(nodes.len() <= usize::try_from(LIST_ROWS_MAX).expect("a small number"));
}

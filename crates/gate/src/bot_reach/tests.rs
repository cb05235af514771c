use nightdesk_types::TenantId;
use uuid::Uuid;

use super::*;
use crate::Refusal;

pub(super) fn agent(number: u128) -> ScopedAgent {
    let tenant = TenantId::from_uuid(Uuid::from_u128(number));
    (TenantScope::for_tenant(tenant), AgentId::from_uuid(Uuid::from_u128(number)))
}

fn terms(version: i64) -> AgentTerms {
    let owners = vec!["owner".to_owned()];
    AgentTerms { version, listed: BTreeSet::new(), owners, relevance: Relevance::default() }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "as a change has it, which may also take a grant back"
)]
fn open_to_all(number: u128) -> Option<GrantHolder> {
    Some((agent(number), Principal::Any))
}

fn chat(chat: &str, scope: Option<&str>) -> GrantTarget {
    GrantTarget::Chat { chat: chat.to_owned(), scope: scope.map(str::to_owned) }
}

const fn written_in<'a>(
    scope: Option<&'a str>,
    chat: &'a str,
    parent: Option<&'a str>,
) -> EventFacts<'a> {
    let place = EventPlace { scope, chat, parent, is_direct: false };
    EventFacts { author: "ann", is_program: false, is_addressed: false, takes_part: false, place }
}

fn known(change: ReachChange) -> BotReach {
    let mut known = BotReach::default();
    let agents = (1..=4).map(|number| (agent(number), terms(7))).collect();
    known.apply(ReachChange { agents, is_whole: true, ..change });
    known
}

fn reached(known: &BotReach, facts: &EventFacts<'_>) -> Vec<ScopedAgent> {
    let recipients = known.decide(facts, None).recipients().unwrap_or_default();
    recipients.into_iter().map(|recipient| (recipient.scope, recipient.agent)).collect()
}

#[test]
fn the_smallest_grant_counts() {
    let grants = vec![
        (chat("c1", Some("g1")), open_to_all(1)),
        (GrantTarget::Scope("g1".to_owned()), open_to_all(2)),
        (GrantTarget::Bot, open_to_all(3)),
        (chat("everywhere", None), open_to_all(4)),
    ];
    let known = known(ReachChange { grants, ..ReachChange::default() });
    let cases = [
        ("the chat", written_in(Some("g1"), "c1", None), 1),
        ("a thread of it", written_in(Some("g1"), "t1", Some("c1")), 1),
        ("another chat of the scope", written_in(Some("g1"), "c2", None), 2),
        ("the same id in another scope", written_in(Some("g2"), "c1", None), 3),
        ("a thread of the same id in another scope", written_in(Some("g2"), "t1", Some("c1")), 3),
        ("no scope", written_in(None, "c1", None), 3),
        ("a chat granted wherever it is", written_in(Some("g2"), "everywhere", None), 4),
    ];
    for (name, facts, want) in cases {
        assert_eq!(reached(&known, &facts), [agent(want)], "{name}");
    }
}

#[test]
fn what_changed_replaces_what_was() {
    let ann = |agents: &[u128]| ("ann".to_owned(), agents.iter().copied().map(agent).collect());
    let mut known = known(ReachChange { authors: vec![ann(&[1, 2])], ..ReachChange::default() });
    let facts = written_in(None, "c1", None);
    assert_eq!(reached(&known, &facts), [agent(1)]);

    known.apply(ReachChange { version: 2, authors: vec![ann(&[2])], ..ReachChange::default() });
    assert_eq!((reached(&known, &facts), known.version()), (vec![agent(2)], 2));
    let grants = vec![(GrantTarget::Bot, open_to_all(3))];
    known.apply(ReachChange {
        version: 3,
        authors: vec![ann(&[])],
        grants,
        ..ReachChange::default()
    });
    assert_eq!(reached(&known, &facts), [agent(3)]);
    let grants = vec![(GrantTarget::Bot, None)];
    known.apply(ReachChange { version: 4, grants, ..ReachChange::default() });
    assert_eq!(reached(&known, &facts), []);
}

#[test]
fn an_admit_carries_the_version_of_its_agent() {
    let authors = vec![("ann".to_owned(), vec![agent(1)])];
    let mut known = known(ReachChange { authors, ..ReachChange::default() });
    let facts = written_in(None, "c1", None);
    let versions = |known: &BotReach| {
        let recipients = known.decide(&facts, None).recipients().expect("somebody receives it");
        recipients.iter().map(|recipient| recipient.version).collect::<Vec<_>>()
    };
    assert_eq!(versions(&known), [7]);

    known.apply(ReachChange { agents: vec![(agent(1), terms(8))], ..ReachChange::default() });
    assert_eq!(versions(&known), [8]);
}

#[test]
fn an_agent_sees_what_one_of_its_people_sees() {
    let known = |owners: &[&str]| {
        let grants = vec![(GrantTarget::Bot, open_to_all(1))];
        let mut known = known(ReachChange { grants, ..ReachChange::default() });
        let owners = owners.iter().copied().map(str::to_owned).collect();
        known.apply(ReachChange {
            agents: vec![(agent(1), AgentTerms { owners, ..terms(7) })],
            ..ReachChange::default()
        });
        known
    };
    let sees = |person: &str| match person {
        "seer" => Visibility::Sees,
        "blind" => Visibility::Blind,
        _ => Visibility::Unknown,
    };
    let cases: [(&[&str], Option<Refusal>); 6] = [
        (&["seer"], None),
        (&["blind", "seer"], None),
        (&["new", "seer"], None),
        (&["blind"], Some(Refusal::NotVisible)),
        (&["blind", "new"], Some(Refusal::SightUnknown)),
        (&[], Some(Refusal::NotVisible)),
    ];
    for (owners, want) in cases {
        let decision = known(owners).decide(&written_in(None, "c1", None), Some(&sees));
        assert_eq!(decision.verdicts[0].refusal, want, "{owners:?}");
    }
}

#[test]
fn who_is_on_the_list_is_welcome() {
    let grants = vec![(GrantTarget::Bot, Some((agent(1), Principal::AllowList)))];
    let mut known = known(ReachChange { grants, ..ReachChange::default() });
    for (listed, want) in [("ann", None), ("bob", Some(Refusal::NotWelcome))] {
        let listed = BTreeSet::from([listed.to_owned()]);
        let terms = AgentTerms { listed, ..terms(7) };
        known.apply(ReachChange { agents: vec![(agent(1), terms)], ..ReachChange::default() });
        let decision = known.decide(&written_in(None, "c1", None), None);
        assert_eq!(decision.verdicts[0].refusal, want);
    }
}

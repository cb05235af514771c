//! The verifier detects every change to a chain.

use nightdesk_types::{TenantId, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use uuid::Uuid;

use super::*;

fn tenant() -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(1))
}

fn at(secs: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + secs).unwrap()
}

fn deed(seq: i64, about: &str) -> AuditRecord {
    let (actor, kind) = ("operator".to_owned(), "bound".to_owned());
    AuditRecord { seq, at: at(seq), actor, kind, about: about.to_owned(), hash: Vec::new() }
}

/// Chains rows from the first row on.
fn chained(mut deeds: Vec<AuditRecord>) -> Vec<AuditRecord> {
    let mut before = ChainLink::start();
    for deed in &mut deeds {
        deed.hash = link_hash(&before, tenant(), deed);
        before = ChainLink { seq: deed.seq, hash: deed.hash.clone() };
    }
    deeds
}

fn link(deed: &AuditRecord) -> ChainLink {
    ChainLink { seq: deed.seq, hash: deed.hash.clone() }
}

fn head(deeds: &[AuditRecord]) -> ChainLink {
    deeds.last().map_or_else(ChainLink::start, link)
}

fn anchor(deed: &AuditRecord) -> Anchor {
    Anchor { at: at(1_000), tenant: tenant(), link: link(deed) }
}

/// Returns the verifier's result for these rows, this head and these anchors.
fn verdict(deeds: &[AuditRecord], head: ChainLink, anchors: &[Anchor]) -> Result<i64, Fault> {
    let chain = Chain { begins: ChainLink::start(), head };
    let mut verifier = Verifier::begin(tenant(), chain, anchors, at(0))?;
    deeds.iter().try_for_each(|deed| verifier.verify_next(deed))?;
    verifier.finish()
}

/// A change that an attacker with access to the database can make.
#[derive(Clone, Debug)]
enum Edit {
    At(i64),
    Actor(String),
    Kind(String),
    About(String),
    Hash(Index),
    Drop,
    Twice,
    Swap,
    Truncate,
}

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (1_i64..1_000_000).prop_map(Edit::At),
        "[a-z:]{0,8}".prop_map(Edit::Actor),
        "[a-z-]{0,8}".prop_map(Edit::Kind),
        "[a-z\"{}]{0,8}".prop_map(Edit::About),
        any::<Index>().prop_map(Edit::Hash),
        Just(Edit::Drop),
        Just(Edit::Twice),
        Just(Edit::Swap),
        Just(Edit::Truncate),
    ]
}

fn edited(mut deeds: Vec<AuditRecord>, edit: Edit, place: usize) -> Vec<AuditRecord> {
    let deed = &mut deeds[place];
    match edit {
        Edit::At(micros) => deed.at += std::time::Duration::from_micros(micros.unsigned_abs()),
        Edit::Actor(text) => deed.actor = text,
        Edit::Kind(text) => deed.kind = text,
        Edit::About(text) => deed.about = text,
        Edit::Hash(byte) => {
            let byte = byte.index(deed.hash.len());
            deed.hash[byte] ^= 1;
        }
        Edit::Drop => drop(deeds.remove(place)),
        Edit::Twice => deeds.insert(place, deeds[place].clone()),
        Edit::Swap => deeds.swap(place, place.saturating_sub(1)),
        Edit::Truncate => deeds.truncate(place),
    }
    deeds
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        max_global_rejects: 100_000,
        ..ProptestConfig::default()
    })]

    /// Q21. With the original head, every edit is detected. If the attacker also recomputes all later hashes and the
    /// head, the anchor detects the edit.
    #[test]
    fn any_edit_is_found(
        abouts in prop::collection::vec("[a-z]{0,6}", 1..12),
        edit in edits(),
        place in any::<Index>(),
    ) {
        let numbered = abouts.iter().zip(1..);
        let good = chained(numbered.map(|(about, seq)| deed(seq, about)).collect());
        prop_assert_eq!(verdict(&good, head(&good), &[]), Ok(good.last().unwrap().seq));
        let bad = edited(good.clone(), edit, place.index(good.len()));
        prop_assume!(bad != good);

        prop_assert!(verdict(&bad, head(&good), &[]).is_err());
        let mut anew = bad;
        (1..).zip(&mut anew).for_each(|(seq, deed)| deed.seq = seq);
        let anew = chained(anew);
        // Rows appended after the anchor are not an edit.
        prop_assume!(!anew.starts_with(&good));
        prop_assert!(verdict(&anew, head(&anew), &[anchor(good.last().unwrap())]).is_err());
    }
}

#[test]
fn a_fault_says_where() {
    let good = chained((1..=5).map(|seq| deed(seq, "a")).collect());
    let changed = edited(good.clone(), Edit::About("b".to_owned()), 2);
    let dropped = edited(good.clone(), Edit::Drop, 1);
    let anew = chained(changed.clone());
    let anchors = [anchor(&good[3])];
    let cases = [
        ("good", &good[..], head(&good), Ok(5)),
        ("changed", &changed, head(&good), Err(Fault::Changed { seq: 3 })),
        ("dropped", &dropped, head(&good), Err(Fault::Missing { seq: 2 })),
        ("cut", &good[..3], head(&good), Err(Fault::Cut { last: 3, head: 5 })),
        ("cut with its head", &good[..3], head(&good[..3]), Err(Fault::Cut { last: 3, head: 4 })),
        ("made anew", &anew, head(&anew), Err(Fault::Rewritten { seq: 4, at: at(1_000) })),
    ];
    for (name, deeds, head, want) in cases {
        assert_eq!(verdict(deeds, head, &anchors), want, "{name}");
    }
}

#[test]
fn a_chain_whose_beginning_was_let_go_in_time_is_good() {
    let good = chained((1..=5).map(|seq| deed(seq, "a")).collect());
    let anchors = [anchor(&good[0]), anchor(&good[1]), anchor(&good[4])];
    let chain = Chain { begins: link(&good[1]), head: head(&good) };
    let begin = |kept_since| Verifier::begin(tenant(), chain.clone(), &anchors, kept_since);

    let mut verifier = begin(at(2_000)).unwrap();
    good[2..].iter().try_for_each(|deed| verifier.verify_next(deed)).unwrap();
    assert!(verifier.is_whole());
    assert_eq!(verifier.finish(), Ok(5));
    assert_eq!(begin(at(0)).unwrap_err(), Fault::LetGoEarly { seq: 2 });
}

#[test]
fn another_tenants_rows_are_not_this_ones() {
    let good = chained((1..=2).map(|seq| deed(seq, "a")).collect());
    let other = TenantId::from_uuid(Uuid::from_u128(2));
    let chain = Chain { begins: ChainLink::start(), head: head(&good) };
    let mut verifier = Verifier::begin(other, chain, &[], at(0)).unwrap();

    assert_eq!(verifier.verify_next(&good[0]), Err(Fault::Changed { seq: 1 }));
}

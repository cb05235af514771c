//! Properties of every batch of letters.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use proptest::prelude::*;

use super::tests::{now, party, posting};
use super::*;

const ENTRIES_MAX: i64 = 4;
const BYTES_MAX: i64 = 45;

/// A small desk: a few agents of two tenants, and the facts that a store has about them.
#[derive(Clone, Debug, Default)]
struct World {
    granted: HashSet<(Party, Party)>,
    agents: HashSet<Party>,
    hops: HashMap<Party, u32>,
    stored: HashMap<DispatchKey, LetterId>,
    rooms: HashMap<Party, InboxCapacity>,
}

impl World {
    fn facts(&self, letter: &NewLetter) -> LetterFacts {
        let empty = InboxCapacity {
            entries_max: ENTRIES_MAX,
            bytes_max: BYTES_MAX,
            ..InboxCapacity::default()
        };
        let room = self.rooms.get(&letter.to).copied().unwrap_or(empty);
        LetterFacts {
            repeated: self.stored.get(&dispatch_key(letter)).copied(),
            grants: LetterGrants {
                by_sender: self.granted.contains(&(letter.from, letter.to)),
                by_recipient: self.granted.contains(&(letter.to, letter.from)),
            },
            capacity: self.agents.contains(&letter.to).then_some(room),
            highest_hop: self.hops.get(&letter.from).copied().unwrap_or(0),
        }
    }

    fn decide(&self, batch: &[Posting]) -> Vec<LetterDecision> {
        let facts: Vec<_> = batch.iter().map(|posting| self.facts(&posting.letter)).collect();
        decide_batch(batch, &facts, now())
    }

    /// Stores the decisions, as a store does.
    fn store(&mut self, batch: &[Posting], decisions: &[LetterDecision]) {
        for (Posting { letter, entry }, decision) in batch.iter().zip(decisions) {
            let LetterDecision::Write { hop, place, .. } = decision else { continue };
            let room = self.facts(letter).capacity;
            self.stored.insert(dispatch_key(letter), letter.id);
            let highest = self.hops.entry(letter.to).or_default();
            *highest = (*highest).max(*hop);
            if let (LetterPlace::Inbox, Some(mut room)) = (place, room) {
                room.add_entry(entry.body.len());
                self.rooms.insert(letter.to, room);
            }
        }
    }
}

fn agents() -> impl Strategy<Value = Party> {
    prop::sample::select(vec![party(1, 1), party(1, 2), party(2, 3), party(2, 4)])
}

prop_compose! {
    fn worlds()(
        granted in prop::collection::hash_set((agents(), agents()), 0..12),
        agents_there in prop::collection::hash_set(agents(), 2..=4),
        hops in prop::collection::hash_map(agents(), 0..=HOPS_MAX, 0..4),
    ) -> World {
        World { granted, agents: agents_there, hops, ..World::default() }
    }
}

prop_compose! {
    fn letters()(
        from in agents(),
        to in agents(),
        dispatch in 0..4_u8,
        bytes in 1..20_usize,
        when in prop::option::weighted(0.2, 0..2_u64),
        goes_out in prop::bool::weighted(0.1),
    ) -> Posting {
        let mut posting = posting(0, from, to, &format!("d{dispatch}"));
        posting.entry.body = vec![b'x'; bytes];
        posting.letter.when = when.map(|secs| now() + Duration::from_secs(secs));
        posting.letter.by_outlet = goes_out;
        posting
    }
}

/// Generates letters with distinct ids.
fn batches() -> impl Strategy<Value = Vec<Posting>> {
    prop::collection::vec(letters(), 0..24).prop_map(|mut batch| {
        for (id, posting) in (1..).zip(&mut batch) {
            posting.letter.id = LetterId::from_uuid(uuid::Uuid::from_u128(id));
        }
        batch
    })
}

fn is_written(decision: &LetterDecision) -> bool {
    matches!(decision, LetterDecision::Write { .. })
}

proptest! {
    #[test]
    fn without_both_grants_nothing_is_written_between_tenants(world in worlds(), batch in batches()) {
        for (Posting { letter, .. }, decision) in batch.iter().zip(world.decide(&batch)) {
            let (from, to) = (letter.from, letter.to);
            let granted = [(from, to), (to, from)].iter().all(|pair| world.granted.contains(pair));
            if from.scope != to.scope && !granted {
                prop_assert_eq!(decision, LetterDecision::Refuse(PutRefusal::NotGranted));
            }
        }
    }

    #[test]
    fn a_written_letter_carries_the_proof_of_its_own_two_agents(world in worlds(), batch in batches()) {
        for (Posting { letter, .. }, decision) in batch.iter().zip(world.decide(&batch)) {
            if let LetterDecision::Write { admitted, .. } = decision {
                prop_assert_eq!((admitted.sender(), admitted.recipient()), (letter.from.key(), letter.to.key()));
                prop_assert!(world.agents.contains(&letter.to));
            }
        }
    }

    #[test]
    fn one_dispatch_is_written_once_and_a_repeat_names_the_first(world in worlds(), batch in batches()) {
        let mut first = HashMap::new();
        for (Posting { letter, .. }, decision) in batch.iter().zip(world.decide(&batch)) {
            let key = dispatch_key(letter);
            match (decision, first.get(&key)) {
                (LetterDecision::Repeat(id), Some(known)) => prop_assert_eq!(id, *known),
                (LetterDecision::Write { .. }, None) => drop(first.insert(key, letter.id)),
                (LetterDecision::Refuse(_), None) => {}
                (other, known) => prop_assert!(false, "{other:?} after {known:?}"),
            }
        }
    }

    #[test]
    fn the_same_batch_again_writes_nothing_of_what_was_written(world in worlds(), batch in batches()) {
        let mut world = world;
        let decisions = world.decide(&batch);
        world.store(&batch, &decisions);

        for ((Posting { letter, .. }, before), again) in
            batch.iter().zip(decisions).zip(world.decide(&batch))
        {
            match before {
                LetterDecision::Write { .. } => prop_assert_eq!(again, LetterDecision::Repeat(letter.id)),
                LetterDecision::Repeat(_) => prop_assert_eq!(again, before),
                LetterDecision::Refuse(_) => {}
            }
        }
    }

    #[test]
    fn hops_rise_by_one_and_end_at_the_limit(world in worlds(), batch in batches()) {
        let mut highest = world.hops.clone();
        for (Posting { letter, .. }, decision) in batch.iter().zip(world.decide(&batch)) {
            let came = highest.get(&letter.from).copied().unwrap_or(0);
            if let LetterDecision::Write { hop, .. } = decision {
                prop_assert_eq!(hop, came + 1);
                prop_assert!(hop <= HOPS_MAX);
                let at_recipient = highest.entry(letter.to).or_default();
                *at_recipient = (*at_recipient).max(hop);
            }
        }
    }

    #[test]
    fn letters_that_answer_each_other_end_after_the_limit(start in 0..=HOPS_MAX) {
        let (one, other) = (party(1, 1), party(1, 2));
        let world = World {
            agents: HashSet::from([one, other]),
            hops: HashMap::from([(one, start)]),
            ..World::default()
        };
        let mut batch: Vec<_> = (0..20)
            .map(|n| {
                let (from, to) = if n % 2 == 0 { (one, other) } else { (other, one) };
                posting(n, from, to, &format!("d{n}"))
            })
            .collect();
        for posting in &mut batch {
            posting.letter.by_outlet = true;
        }

        let decisions = world.decide(&batch);
        let written = decisions.iter().take_while(|one| is_written(one)).count();
        prop_assert_eq!(u32::try_from(written).unwrap(), HOPS_MAX - start);
        let end = decisions[written];
        prop_assert_eq!(end, LetterDecision::Refuse(PutRefusal::TooManyHops));
    }

    #[test]
    fn no_quota_is_ever_exceeded(world in worlds(), batches in prop::collection::vec(batches(), 1..4)) {
        let mut world = world;
        for batch in batches {
            let decisions = world.decide(&batch);
            world.store(&batch, &decisions);
        }

        let is_kept = |room: &InboxCapacity| {
            room.entries <= room.entries_max && (room.bytes <= room.bytes_max || room.entries == 1)
        };
        prop_assert!(world.rooms.values().all(is_kept), "{:?}", world.rooms);
    }

    #[test]
    fn a_batch_is_decided_as_its_letters_one_after_the_other(world in worlds(), batch in batches()) {
        let together = world.decide(&batch);
        let mut world = world;
        for (posting, want) in batch.iter().zip(together) {
            let alone = std::slice::from_ref(posting);
            let decided = world.decide(alone);
            prop_assert_eq!(decided[0], want);
            world.store(alone, &decided);
        }
    }
}

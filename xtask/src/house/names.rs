//! Finds type names that cannot be searched: bare participles, and one name for several types.

use std::collections::{BTreeMap, BTreeSet};

/// A type, and the place of its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypeName {
    pub(super) name: String,
    pub(super) place: String,
}

/// Participles and past forms that do not end in "ed".
const IRREGULAR: [&str; 38] = [
    "Begun",
    "Bound",
    "Built",
    "Came",
    "Chosen",
    "Done",
    "Drawn",
    "Dug",
    "Found",
    "Given",
    "Gone",
    "Heard",
    "Held",
    "Kept",
    "Known",
    "Left",
    "Lent",
    "Lost",
    "Made",
    "Met",
    "Paid",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Shut",
    "Sold",
    "Spent",
    "Spoken",
    "Taken",
    "Taught",
    "Thought",
    "Told",
    "Torn",
    "Understood",
    "Woken",
    "Won",
    "Written",
];
/// Nouns that end in "ed".
const NOUNS: [&str; 4] = ["Embed", "Feed", "Seed", "Speed"];
/// Names that each crate has once by convention; the crate's name distinguishes them.
const SHARED_BY_CONVENTION: [&str; 5] = ["Config", "Error", "Metrics", "Row", "Store"];

/// Returns types whose whole name is a participle: "Kept" describes a state, not an object.
pub(super) fn participles(types: &[TypeName]) -> Vec<String> {
    let bare = types.iter().filter(|named| is_participle(&named.name));
    bare.map(|named| format!("{} {}", named.place, named.name)).collect()
}

/// Returns names that a search cannot tell apart: several types of one crate share them, or types of three crates.
pub(super) fn shared(types: &[TypeName]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for TypeName { name, place } in types {
        places.entry(name).or_default().push(place);
    }
    places.retain(|name, places| is_ambiguous(places) && !SHARED_BY_CONVENTION.contains(name));
    places.iter().map(|(name, places)| format!("{} {name}", places.join(" "))).collect()
}

fn is_ambiguous(places: &[&str]) -> bool {
    let crates: BTreeSet<_> = places.iter().map(|place| crate_folder(place)).collect();
    crates.len() < places.len() || crates.len() > 2
}

/// Returns the folder of a place's crate: `crates/gate` of `crates/gate/src/decide.rs:12`.
fn crate_folder(place: &str) -> &str {
    let end = place.match_indices('/').nth(1).map_or(place.len(), |(index, _)| index);
    &place[..end]
}

fn is_participle(name: &str) -> bool {
    let words = name.chars().filter(|c| c.is_uppercase()).count();
    let is_regular = name.ends_with("ed") && !NOUNS.contains(&name);
    words == 1 && (is_regular || IRREGULAR.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_participle_is_found_and_one_with_a_noun_is_not() {
        let cases = [
            ("Kept", true),
            ("Claimed", true),
            ("ClaimedWake", false),
            ("Feed", false),
            ("Lease", false),
        ];
        for (name, want) in cases {
            assert_eq!(is_participle(name), want, "{name}");
        }
    }

    #[test]
    fn a_name_is_ambiguous_within_a_crate_and_over_three_crates() {
        let named =
            |name: &str, place: &str| TypeName { name: name.to_owned(), place: place.to_owned() };
        let types = [
            named("Room", "crates/a/src/lib.rs:1"),
            named("Room", "crates/a/src/b.rs:1"),
            named("Lease", "crates/a/src/lib.rs:2"),
            named("Lease", "crates/b/src/lib.rs:1"),
            named("Kind", "crates/a/src/lib.rs:3"),
            named("Kind", "crates/b/src/lib.rs:2"),
            named("Kind", "platforms/c/src/lib.rs:2"),
            named("Store", "crates/b/src/lib.rs:3"),
            named("Store", "crates/b/src/c.rs:3"),
        ];

        assert_eq!(
            shared(&types),
            [
                "crates/a/src/lib.rs:3 crates/b/src/lib.rs:2 platforms/c/src/lib.rs:2 Kind",
                "crates/a/src/lib.rs:1 crates/a/src/b.rs:1 Room",
            ]
        );
    }
}

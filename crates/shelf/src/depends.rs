//! Finds the skills that depend on another one.

use crate::contract::SkillStore;
use crate::error::SkillStoreError;
use crate::name::is_in_names;
use crate::skill::SkillFilter;

/// Returns the names of the skills that mention another one by its name.
///
/// No language is parsed, so every occurrence of the name as a whole word counts. A false match costs one more
/// confirmation before a removal; a missed one would break a skill.
pub async fn dependents(
    store: &dyn SkillStore,
    name: &str,
) -> Result<Vec<String>, SkillStoreError> {
    let mut found = Vec::new();
    for other in store.query(&SkillFilter::default()).await? {
        if other.name == name {
            continue;
        }
        match store.load(&other.name, None).await {
            Ok(skill) if mentions(&skill.source, name) => found.push(other.name),
            // A skill that was removed in the meantime depends on nothing.
            Ok(_) | Err(SkillStoreError::SkillNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn mentions(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let before = source[..at].chars().next_back();
        let mut after = source[at + name.len()..].chars();
        // A dot may end a sentence, or begin a call.
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(is_in_names),
            next => next.is_some_and(is_in_names),
        };
        !before.is_some_and(is_in_names) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_where_it_stands_by_itself() {
        for source in [
            "&brief",
            "$ execute_skill skill_name=brief",
            "\"brief\"",
            "# Requires: brief",
            "see brief.",
        ] {
            assert!(mentions(source, "brief"), "{source}");
        }
        for source in ["briefs", "de-brief", "brief.long", "", "Brief"] {
            assert!(!mentions(source, "brief"), "{source}");
        }
    }
}

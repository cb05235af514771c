//! Applies the filter of skills. Every store uses this, so that all give the same results.

use nightdesk_types::limits::{NAME_PATTERN_MEMORY_BYTES_MAX, SHELF_QUERY_BYTES_MAX};
use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;

use crate::error::SkillStoreError;
use crate::skill::{SkillFilter, SkillMeta};

/// Returns the skills that match a filter, by name.
pub fn page(
    skills: Vec<SkillMeta>,
    filter: &SkillFilter,
) -> Result<Vec<SkillMeta>, SkillStoreError> {
    let pattern = filter.name_pattern.as_deref().map(pattern).transpose()?;
    let named =
        |skill: &SkillMeta| pattern.as_ref().is_none_or(|regex| regex.is_match(&skill.name));
    let mut found: Vec<_> =
        skills.into_iter().filter(|skill| is_meant(skill, filter) && named(skill)).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let from = filter.offset.unwrap_or(0);
    Ok(found.into_iter().skip(from).take(filter.limit.unwrap_or(usize::MAX)).collect())
}

fn is_meant(skill: &SkillMeta, filter: &SkillFilter) -> bool {
    let tags = skill.tags.as_deref().unwrap_or_default();
    filter.status.as_ref().is_none_or(|any| any.as_slice().contains(&skill.status))
        && filter.kind.is_none_or(|kind| skill.kind == Some(kind))
        && filter.tag.as_ref().is_none_or(|all| all.as_slice().iter().all(|t| tags.contains(t)))
        && filter.author.as_ref().is_none_or(|author| skill.author.as_ref() == Some(author))
        && filter.since.is_none_or(|since| skill.updated_at >= since)
}

/// Compiles a pattern of names. Matching takes time linear in the name's length for every pattern.
fn pattern(text: &str) -> Result<Regex, SkillStoreError> {
    let refused = |reason: String| SkillStoreError::Query { reason };
    if text.len() > SHELF_QUERY_BYTES_MAX {
        return Err(refused(format!("a pattern has at most {SHELF_QUERY_BYTES_MAX} bytes")));
    }
    let bounds = Config::new().nfa_size_limit(Some(NAME_PATTERN_MEMORY_BYTES_MAX));
    // Names are ASCII, so no Unicode tables are needed.
    let plain = syntax::Config::new().unicode(false).utf8(false);
    Regex::builder().configure(bounds).syntax(plain).build(text).map_err(|_| {
        refused("the name pattern is not a regular expression, or is too large".into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::StoredSkill;
    use crate::skill::{OneOrMany, SkillStatus};
    use crate::store::{Revision, RevisionStamp};

    fn skill(name: &str, source: &str, author: &str) -> SkillMeta {
        let kept =
            StoredSkill { source: source.into(), author: Some(author.into()), metadata_bag: None };
        let stamp = RevisionStamp { changed_at: 7, changed_by: None };
        Revision::first(name, kept, stamp).meta()
    }

    fn names(filter: &SkillFilter) -> Vec<String> {
        let skills = vec![
            skill("c", "# Tags: x\n# Type: data\n", "perry"),
            skill("a.1", "# Status: Approved\n# Tags: x, y\n", "olsen"),
            skill("b", "", "perry"),
        ];
        page(skills, filter).unwrap().into_iter().map(|skill| skill.name).collect()
    }

    #[test]
    fn every_word_of_a_filter_counts() {
        let read = |text: &str| serde_json::from_str::<SkillFilter>(text).unwrap();
        let cases = [
            ("{}", vec!["a.1", "b", "c"]),
            (r#"{"status":"Draft"}"#, vec!["b", "c"]),
            (r#"{"status":["Draft","Approved"]}"#, vec!["a.1", "b", "c"]),
            (r#"{"type":"data"}"#, vec!["c"]),
            (r#"{"tag":"x"}"#, vec!["a.1", "c"]),
            (r#"{"tag":["x","y"]}"#, vec!["a.1"]),
            (r#"{"author":"perry"}"#, vec!["b", "c"]),
            (r#"{"since":8}"#, vec![]),
            (r#"{"since":7}"#, vec!["a.1", "b", "c"]),
            (r#"{"name_pattern":"^[ab]\\b"}"#, vec!["a.1", "b"]),
            (r#"{"name_pattern":"\\d"}"#, vec!["a.1"]),
            (r#"{"limit":1}"#, vec!["a.1"]),
            (r#"{"offset":1}"#, vec!["b", "c"]),
            (r#"{"offset":1,"limit":1}"#, vec!["b"]),
            (r#"{"unheard_of":true}"#, vec!["a.1", "b", "c"]),
        ];
        for (text, want) in cases {
            assert_eq!(names(&read(text)), want, "{text}");
        }
        let both = OneOrMany::Many(vec![SkillStatus::Disabled]);
        assert!(names(&SkillFilter { status: Some(both), ..<_>::default() }).is_empty());
    }

    #[test]
    fn a_pattern_has_bounds() {
        let asked = |text: String| {
            page(vec![], &SkillFilter { name_pattern: Some(text), ..<_>::default() }).is_ok()
        };

        assert!(asked("a".repeat(SHELF_QUERY_BYTES_MAX)));
        assert!(!asked("a".repeat(SHELF_QUERY_BYTES_MAX + 1)));
        assert!(!asked("(".into()));
        assert!(!asked("(a{1000}){1000}".into()));
    }
}

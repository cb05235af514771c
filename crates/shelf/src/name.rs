//! Checks the names of skills.

use nightdesk_types::limits::SKILL_NAME_BYTES_MAX;

use crate::error::SkillStoreError;

/// Rejects a name that is not plain. A name is used as a file name, a path segment and a word, so it begins with a
/// letter or a digit and continues with those, `_`, `-` and `.`.
pub fn check_name(name: &str) -> Result<(), SkillStoreError> {
    if is_plain(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(SKILL_NAME_BYTES_MAX).collect();
    let reason = format!(
        "a name begins with a letter or a digit, followed by those, `_`, `-` and `.`, at most \
         {SKILL_NAME_BYTES_MAX} bytes in all"
    );
    Err(SkillStoreError::conflict(&shown, reason))
}

/// Returns true if a character may be in a name.
pub(crate) const fn is_in_names(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

pub(crate) fn is_plain(name: &str) -> bool {
    name.len() <= SKILL_NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_in_names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        let longest = "a".repeat(SKILL_NAME_BYTES_MAX);
        for name in ["a", "7", "a.b-c_d", "A..b", &longest] {
            assert!(is_plain(name), "{name}");
        }
        for name in
            ["", ".a", "-a", "_a", "a/b", "../a", "a b", "ä", "a\n", "a\0", &(longest + "a")]
        {
            assert!(!is_plain(name), "{name}");
        }
    }
}

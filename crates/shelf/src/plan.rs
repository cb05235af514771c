//! Decides the result of a write. Every store uses this, so that all give the same results.

use nightdesk_types::limits::{AUTHOR_BYTES_MAX, METADATA_BYTES_MAX, SKILL_BYTES_MAX};
use serde_json::{Map, Value};

use crate::approval::Approval;
use crate::error::SkillStoreError;
use crate::header::{Header, with_status};
use crate::metadata::{bytes_of, has_zero};
use crate::name::check_name;
use crate::skill::{SkillPatch, SkillStatus};

/// A stored skill before a write.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSkill {
    /// The bytes.
    pub source: String,
    /// The author.
    pub author: Option<String>,
    /// Further metadata.
    pub metadata_bag: Option<Map<String, Value>>,
}

/// A requested write.
#[derive(Clone, Copy, Debug)]
pub struct SkillDraft<'a> {
    /// The name.
    pub name: &'a str,
    /// The bytes.
    pub source: &'a str,
    /// Further properties.
    pub patch: &'a SkillPatch,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq)]
pub struct WritePlan {
    /// The skill to store.
    pub skill: StoredSkill,
    /// The status, which is also in the bytes.
    pub status: SkillStatus,
    /// The previous status, if it differs.
    pub previous_status: Option<SkillStatus>,
    /// True if anything changes.
    pub changes: bool,
}

/// Decides the result of a write.
///
/// The bytes are stored as received, also over an existing skill, and the status is theirs. The status line is rewritten
/// in two cases only: the patch sets another status, or the bytes claim an approval that they do not have, and become a
/// draft.
pub fn plan(
    kept: Option<&StoredSkill>,
    draft: SkillDraft<'_>,
    approval: &Approval,
) -> Result<WritePlan, SkillStoreError> {
    check(draft)?;
    let author = author(kept, draft)?;
    let had = kept.map(|kept| Header::parse(&kept.source).declared_status());
    let said = Header::parse(draft.source).declared_status();
    let wanted = draft.patch.status.unwrap_or(said);
    let status = permitted_status(wanted, draft.source, approval);
    let source =
        if said == status { draft.source.to_owned() } else { with_status(draft.source, status) };
    let bag = draft.patch.metadata_bag.as_ref().or_else(|| kept?.metadata_bag.as_ref());
    let planned = StoredSkill { source, author, metadata_bag: bag.cloned() };
    let changes = kept != Some(&planned);
    if changes && kept.is_some() && draft.patch.only_new {
        let reason = "a skill of that name exists; set `overwrite` to replace it";
        return Err(SkillStoreError::conflict(draft.name, reason));
    }
    Ok(WritePlan {
        changes,
        skill: planned,
        status,
        previous_status: had.filter(|had| *had != status),
    })
}

/// Decides the result of a change of status.
pub fn plan_status(
    name: &str,
    kept: &StoredSkill,
    status: SkillStatus,
    approval: &Approval,
) -> Result<WritePlan, SkillStoreError> {
    if status == SkillStatus::Approved {
        approval.check_signature(&kept.source).map_err(|reason| {
            SkillStoreError::ApprovalRejected {
                skill_name: name.to_owned(),
                reason: reason.to_owned(),
            }
        })?;
    }
    let had = Header::parse(&kept.source).declared_status();
    let source =
        if had == status { kept.source.clone() } else { with_status(&kept.source, status) };
    Ok(WritePlan {
        changes: source != kept.source,
        skill: StoredSkill { source, ..kept.clone() },
        status,
        previous_status: Some(had),
    })
}

fn check(draft: SkillDraft<'_>) -> Result<(), SkillStoreError> {
    check_name(draft.name)?;
    let conflict = |reason| Err(SkillStoreError::conflict(draft.name, reason));
    // An added status line does not count.
    if draft.source.len() > SKILL_BYTES_MAX {
        return conflict(format!("it has more than {SKILL_BYTES_MAX} bytes"));
    }
    let bag = draft.patch.metadata_bag.as_ref();
    let author = draft.patch.author.as_deref();
    let has_zeros = draft.source.contains('\0')
        || bag.is_some_and(has_zero)
        || author.is_some_and(|author| author.contains('\0'));
    if has_zeros {
        return conflict("it has a zero byte".to_owned());
    }
    if bag.is_some_and(|bag| bytes_of(bag) > METADATA_BYTES_MAX) {
        return conflict(format!("the metadata has more than {METADATA_BYTES_MAX} bytes"));
    }
    if author.is_some_and(|author| author.is_empty() || author.len() > AUTHOR_BYTES_MAX) {
        return conflict(format!("an author has between 1 and {AUTHOR_BYTES_MAX} bytes"));
    }
    Ok(())
}

/// Returns the author after the write, which is the first author.
fn author(
    kept: Option<&StoredSkill>,
    draft: SkillDraft<'_>,
) -> Result<Option<String>, SkillStoreError> {
    let first = kept.and_then(|kept| kept.author.as_ref());
    let says = draft.patch.author.as_ref();
    match (first, says) {
        (Some(first), Some(says)) if first != says => {
            Err(SkillStoreError::conflict(draft.name, format!("it belongs to {first}")))
        }
        (first, says) => Ok(first.or(says).cloned()),
    }
}

/// Returns the status that the approval permits.
fn permitted_status(wanted: SkillStatus, source: &str, approval: &Approval) -> SkillStatus {
    match wanted {
        SkillStatus::Approved if approval.check_signature(source).is_err() => SkillStatus::Draft,
        SkillStatus::Approved | SkillStatus::Draft | SkillStatus::Disabled => wanted,
    }
}

#[cfg(test)]
mod tests;

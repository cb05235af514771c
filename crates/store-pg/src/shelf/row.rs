//! Converts rows of the shelf.

use jiff_sqlx::Timestamp;
use nightdesk_shelf::{
    Approval, PublicKey, Revision, SkillMeta, SkillStatus, StoredSkill, VersionInfo,
};
use sqlx::types::Json;

use crate::row::bad_column;

/// A revision with the current metadata of its skill.
pub(super) struct RevisionRow {
    pub(super) meta: Json<SkillMeta>,
    pub(super) source: Vec<u8>,
    pub(super) version: String,
    pub(super) content_hash: String,
    pub(super) status: String,
    pub(super) previous_status: Option<String>,
    pub(super) changed_at: Timestamp,
    pub(super) changed_by: Option<String>,
}

impl RevisionRow {
    /// Converts the newest revision; the metadata describes it.
    pub(super) fn into_newest(self) -> sqlx::Result<Revision> {
        let status_changed_at = self.meta.status_changed_at.unwrap_or(self.meta.updated_at);
        self.revision(status_changed_at)
    }

    /// Converts an earlier revision, for which the time of the status change is no longer known.
    pub(super) fn into_earlier(self) -> sqlx::Result<Revision> {
        let changed_at = secs(self.changed_at);
        self.revision(changed_at)
    }

    fn revision(self, status_changed_at: i64) -> sqlx::Result<Revision> {
        let Json(meta) = self.meta;
        let source = String::from_utf8(self.source);
        Ok(Revision {
            info: VersionInfo {
                name: meta.name,
                version: self.version,
                content_hash: self.content_hash,
                status: status_of(&self.status)?,
                previous_status: self.previous_status.as_deref().map(status_of).transpose()?,
                changed_at: secs(self.changed_at),
                changed_by: self.changed_by,
            },
            skill: StoredSkill {
                source: source.map_err(|_| bad_column("skill_revisions", "source"))?,
                author: meta.author,
                metadata_bag: meta.metadata_bag,
            },
            created_at: meta.created_at,
            status_changed_at,
        })
    }
}

pub(super) fn secs(at: Timestamp) -> i64 {
    at.to_jiff().as_second()
}

pub(super) fn status_of(text: &str) -> sqlx::Result<SkillStatus> {
    SkillStatus::from_exact(text).ok_or_else(|| bad_column("skill_revisions", "status"))
}

pub(super) fn approval_of(key: Option<Vec<u8>>) -> sqlx::Result<Approval> {
    let Some(key) = key else {
        return Ok(Approval::Unsecured);
    };
    let bytes = key.try_into().map_err(|_| bad_column("shelves", "approval_key"))?;
    Ok(Approval::Secured(PublicKey::from_bytes(bytes)))
}

pub(super) fn key_of(approval: &Approval) -> Option<Vec<u8>> {
    match approval {
        Approval::Unsecured => None,
        Approval::Secured(key) => Some(key.as_bytes().to_vec()),
    }
}

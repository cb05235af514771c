//! The store of skills. The submodules contain the store of data and the row types.

mod data;
mod row;

use async_trait::async_trait;
use nightdesk_shelf::{
    Approval, ContractResult, Revision, RevisionStamp, ShelfState, SkillDraft, SkillMeta,
    SkillPatch, SkillSource, SkillStatus, SkillStoreError, Skills, VersionInfo, plan, plan_status,
    writer,
};
use nightdesk_types::limits::{SKILL_REVISIONS_KEPT_MAX, SKILLS_MAX};
use nightdesk_types::{StoreError, TenantScope};
use sqlx::PgConnection;
use sqlx::types::Json;

use self::row::{RevisionRow, approval_of, key_of, secs, status_of};
use crate::Pg;

/// The rows of revisions and their skills.
macro_rules! revision_rows {
    ($from:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            RevisionRow,
            r#"select s.meta as "meta: Json<SkillMeta>", r.source, r.version,
                   r.content_hash, r.status, r.previous_status,
                   r.changed_at as "changed_at: jiff_sqlx::Timestamp", r.changed_by"# + $from,
            $($argument),+
        )
    };
}

#[async_trait]
impl Skills for Pg {
    async fn put_skill(
        &self,
        scope: TenantScope,
        name: &str,
        source: &str,
        patch: &SkillPatch,
    ) -> Result<ContractResult<VersionInfo>, StoreError> {
        let (name, source, patch) = (name.to_owned(), source.to_owned(), patch.clone());
        run_to_end!(self.for_tenant("store a skill", scope), |connection| {
            let (approval, now) = lock_shelf(connection, scope).await?;
            let before = newest_revision(connection, scope, &name).await?;
            let draft = SkillDraft { name: &name, source: &source, patch: &patch };
            let kept = before.as_ref().map(|before| &before.skill);
            let planned = match plan(kept, draft, &approval) {
                Ok(planned) => planned,
                Err(refused) => return Ok(Err(refused)),
            };
            if let Some(before) = before.as_ref().filter(|_| !planned.changes) {
                return Ok(Ok(before.info.clone()));
            }
            let stamp = RevisionStamp { changed_at: now, changed_by: writer(scope.actor()) };
            let next = Revision::next(&name, planned, before.as_ref(), stamp);
            put(connection, scope, next).await.map(Ok)
        })
    }

    async fn skill(
        &self,
        scope: TenantScope,
        name: &str,
        version: Option<&str>,
    ) -> Result<ContractResult<SkillSource>, StoreError> {
        let (name, version) = (name.to_owned(), version.map(ToOwned::to_owned));
        run_to_end!(self.for_tenant("load a skill", scope), |connection| {
            let Some(newest) = newest_revision(connection, scope, &name).await? else {
                return Ok(Err(SkillStoreError::not_found(&name)));
            };
            let Some(version) = version.filter(|asked| *asked != newest.info.version) else {
                return Ok(Ok(newest.into_source()));
            };
            let earlier = earlier_revision(connection, scope, &name, &version).await?;
            Ok(earlier
                .map(Revision::into_source)
                .ok_or_else(|| SkillStoreError::VersionNotFound { skill_name: name, version }))
        })
    }

    async fn skills(&self, scope: TenantScope) -> Result<Vec<SkillMeta>, StoreError> {
        run_to_end!(self.for_tenant("list skills", scope), |connection| {
            let rows = sqlx::query_scalar!(
                r#"select meta as "meta: Json<SkillMeta>" from skills where tenant_id = $1"#,
                scope.tenant().uuid()
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(|Json(meta)| meta).collect())
        })
    }

    async fn skill_sources(&self, scope: TenantScope) -> Result<Vec<SkillSource>, StoreError> {
        run_to_end!(self.for_tenant("load skills", scope), |connection| {
            let rows = revision_rows!(
                " from skills s join skill_revisions r
                      on r.tenant_id = s.tenant_id and r.name = s.name and r.revision = s.revision
                  where s.tenant_id = $1",
                scope.tenant().uuid()
            )
            .fetch_all(connection)
            .await?;
            let sources = rows.into_iter().map(|row| Ok(row.into_newest()?.into_source()));
            sources.collect()
        })
    }

    async fn skill_versions(
        &self,
        scope: TenantScope,
        name: &str,
    ) -> Result<ContractResult<Vec<VersionInfo>>, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.for_tenant("read the versions of a skill", scope), |connection| {
            let versions = versions(connection, scope, &name).await?;
            // Every existing skill has at least one version.
            let known = (!versions.is_empty()).then_some(versions);
            Ok(known.ok_or_else(|| SkillStoreError::not_found(&name)))
        })
    }

    async fn set_skill_status(
        &self,
        scope: TenantScope,
        name: &str,
        status: SkillStatus,
    ) -> Result<ContractResult<VersionInfo>, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.for_tenant("change a skill's status", scope), |connection| {
            let (approval, now) = lock_shelf(connection, scope).await?;
            let Some(before) = newest_revision(connection, scope, &name).await? else {
                return Ok(Err(SkillStoreError::not_found(&name)));
            };
            let planned = match plan_status(&name, &before.skill, status, &approval) {
                Ok(planned) => planned,
                Err(refused) => return Ok(Err(refused)),
            };
            if !planned.changes {
                return Ok(Ok(before.as_it_stands()));
            }
            let stamp = RevisionStamp { changed_at: now, changed_by: writer(scope.actor()) };
            let next = Revision::next(&name, planned, Some(&before), stamp);
            put(connection, scope, next).await.map(Ok)
        })
    }

    async fn delete_skill(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.for_tenant("remove a skill", scope), |connection| {
            lock_shelf(connection, scope).await?;
            sqlx::query_scalar!(
                r#"select skill_delete($1, $2) as "was_there!""#,
                scope.tenant().uuid(),
                name
            )
            .fetch_one(connection)
            .await
        })
    }

    async fn shelf(&self, scope: TenantScope) -> Result<ShelfState, StoreError> {
        run_to_end!(self.for_tenant("read a shelf", scope), |connection| {
            let row = sqlx::query!(
                "select revision, approval_key from shelves where tenant_id = $1",
                scope.tenant().uuid()
            )
            .fetch_optional(connection)
            .await?;
            let Some(row) = row else {
                return Ok(ShelfState { revision: 0, approval: Approval::Unsecured });
            };
            Ok(ShelfState { revision: row.revision, approval: approval_of(row.approval_key)? })
        })
    }

    async fn secure_shelf(
        &self,
        scope: TenantScope,
        approval: &Approval,
    ) -> Result<(), StoreError> {
        let key = key_of(approval);
        run_to_end!(self.for_tenant("set the approval of skills", scope), |connection| {
            lock_shelf(connection, scope).await?;
            sqlx::query!(
                "update shelves set approval_key = $2, revision = revision + 1
                 where tenant_id = $1 and approval_key is distinct from $2",
                scope.tenant().uuid(),
                key
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}

/// Locks a shelf. Returns its approval mode and the current time.
async fn lock_shelf(
    connection: &mut PgConnection,
    scope: TenantScope,
) -> sqlx::Result<(Approval, i64)> {
    let row = sqlx::query!(
        r#"select approval_key, now_secs as "now_secs!" from shelf_lock($1)"#,
        scope.tenant().uuid()
    )
    .fetch_one(connection)
    .await?;
    Ok((approval_of(row.approval_key)?, row.now_secs))
}

async fn newest_revision(
    connection: &mut PgConnection,
    scope: TenantScope,
    name: &str,
) -> sqlx::Result<Option<Revision>> {
    let row = revision_rows!(
        " from skills s join skill_revisions r
              on r.tenant_id = s.tenant_id and r.name = s.name and r.revision = s.revision
          where s.tenant_id = $1 and s.name = $2",
        scope.tenant().uuid(),
        name
    )
    .fetch_optional(connection)
    .await?;
    row.map(RevisionRow::into_newest).transpose()
}

async fn earlier_revision(
    connection: &mut PgConnection,
    scope: TenantScope,
    name: &str,
    version: &str,
) -> sqlx::Result<Option<Revision>> {
    // A text that the database cannot accept is never a version.
    if !version.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let row = revision_rows!(
        " from skills s join skill_revisions r on r.tenant_id = s.tenant_id and r.name = s.name
          where s.tenant_id = $1 and s.name = $2 and r.version = $3
          order by r.revision desc limit 1",
        scope.tenant().uuid(),
        name,
        version
    )
    .fetch_optional(connection)
    .await?;
    row.map(RevisionRow::into_earlier).transpose()
}

async fn versions(
    connection: &mut PgConnection,
    scope: TenantScope,
    name: &str,
) -> sqlx::Result<Vec<VersionInfo>> {
    let rows = sqlx::query!(
        r#"select version, content_hash, status, previous_status,
               changed_at as "changed_at: jiff_sqlx::Timestamp", changed_by
           from skill_revisions where tenant_id = $1 and name = $2 order by revision desc"#,
        scope.tenant().uuid(),
        name
    )
    .fetch_all(connection)
    .await?;
    let infos = rows.into_iter().map(|row| {
        Ok(VersionInfo {
            name: name.to_owned(),
            version: row.version,
            content_hash: row.content_hash,
            status: status_of(&row.status)?,
            previous_status: row.previous_status.as_deref().map(status_of).transpose()?,
            changed_at: secs(row.changed_at),
            changed_by: row.changed_by,
        })
    });
    infos.collect()
}

async fn put(
    connection: &mut PgConnection,
    scope: TenantScope,
    next: Revision,
) -> sqlx::Result<VersionInfo> {
    sqlx::query!(
        "select skill_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        scope.tenant().uuid(),
        next.info.name,
        Json(next.meta()) as Json<SkillMeta>,
        next.skill.source.as_bytes(),
        next.info.version,
        next.info.content_hash,
        next.info.status.as_str(),
        next.info.previous_status.map(SkillStatus::as_str),
        next.info.changed_at,
        next.info.changed_by,
        i64::try_from(SKILL_REVISIONS_KEPT_MAX).unwrap_or(i64::MAX),
        i64::try_from(SKILLS_MAX).unwrap_or(i64::MAX)
    )
    .execute(connection)
    .await?;
    Ok(next.info)
}

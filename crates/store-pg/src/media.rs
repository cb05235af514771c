//! The store of files by reference and of the permissions to fetch them.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_media::{MediaId, MediaLocation, MediaRecord, Store};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};
use uuid::Uuid;

use crate::Pg;

#[async_trait]
impl Store for Pg {
    async fn permit_read(
        &self,
        scope: TenantScope,
        agent: AgentId,
        files: &[(MediaId, MediaRecord)],
        good_for: Duration,
    ) -> Result<(), StoreError> {
        let rows: MediaColumns = files.iter().map(|(id, kept)| (*id, kept.clone())).collect();
        let good_for_secs = good_for.as_secs_f64();
        run_to_end!(self.for_tenant("grant files to an agent", scope), |connection| {
            sqlx::query!(
                "insert into media (tenant_id, agent_id, media_id, bot_id, reference, mime,
                     filename, size_bytes, expires_at)
                 select $1, $2, f.id, f.bot, f.reference, f.mime, f.filename, f.size,
                     now() + make_interval(secs => $9)
                 from unnest($3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::bigint[])
                     as f (id, bot, reference, mime, filename, size)",
                scope.tenant().uuid(),
                agent.uuid(),
                &rows.ids,
                &rows.bots as &[Option<Uuid>],
                &rows.references as &[Option<String>],
                &rows.mimes as &[Option<String>],
                &rows.filenames as &[Option<String>],
                &rows.sizes as &[Option<i64>],
                good_for_secs
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn find_record(
        &self,
        scope: TenantScope,
        agent: AgentId,
        id: MediaId,
    ) -> Result<Option<MediaRecord>, StoreError> {
        run_to_end!(self.for_tenant("find a file", scope), |connection| {
            let row = sqlx::query!(
                "select bot_id, reference, mime, filename, size_bytes from media
                 where tenant_id = $1 and agent_id = $2 and media_id = $3 and expires_at > now()",
                scope.tenant().uuid(),
                agent.uuid(),
                id.uuid()
            )
            .fetch_optional(connection)
            .await?;
            Ok(row.map(|row| MediaRecord {
                mime: row.mime,
                filename: row.filename,
                size: row.size_bytes.map(i64::unsigned_abs),
                location: match row.bot_id.zip(row.reference) {
                    Some((bot, reference)) => {
                        MediaLocation::There { bot: BotId::from_uuid(bot), reference }
                    }
                    None => MediaLocation::Here,
                },
            }))
        })
    }
}

/// Files as columns.
#[derive(Default)]
struct MediaColumns {
    ids: Vec<Uuid>,
    bots: Vec<Option<Uuid>>,
    references: Vec<Option<String>>,
    mimes: Vec<Option<String>>,
    filenames: Vec<Option<String>>,
    sizes: Vec<Option<i64>>,
}

impl FromIterator<(MediaId, MediaRecord)> for MediaColumns {
    fn from_iter<T: IntoIterator<Item = (MediaId, MediaRecord)>>(files: T) -> Self {
        let mut rows = Self::default();
        for (id, MediaRecord { mime, filename, size, location: lies }) in files {
            let (bot, reference) = match lies {
                MediaLocation::Here => (None, None),
                MediaLocation::There { bot, reference } => (Some(bot.uuid()), Some(reference)),
            };
            rows.ids.push(id.uuid());
            rows.bots.push(bot);
            rows.references.push(reference);
            rows.mimes.push(mime);
            rows.filenames.push(filename);
            rows.sizes.push(size.and_then(|size| i64::try_from(size).ok()));
        }
        rows
    }
}

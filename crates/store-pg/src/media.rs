//! The store of files by reference and of the permissions to fetch them.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_media::{ContentKey, MediaId, MediaLocation, MediaRecord, Store};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};
use nightdesk_vault::{BodyKind, BodyOwner};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Pg;
use crate::bodies::SealedBody;

#[async_trait]
impl Store for Pg {
    async fn permit_read(
        &self,
        scope: TenantScope,
        agent: AgentId,
        files: &[(MediaId, MediaRecord)],
        good_for: Duration,
    ) -> Result<(), StoreError> {
        let owner = record_owner(scope, agent);
        let mut rows = MediaColumns::default();
        for (id, record) in files {
            let body = sealed_fields(record).to_string();
            rows.add(*id, record, self.seal_body(&owner, body.as_bytes()).await?);
        }
        let good_for_secs = good_for.as_secs_f64();
        run_to_end!(self.for_tenant("grant files to an agent", scope), |connection| {
            sqlx::query!(
                "insert into media (tenant_id, agent_id, media_id, bot_id, size_bytes, body, key_id,
                     body_id, expires_at)
                 select $1, $2, f.id, f.bot, f.size, f.body, f.key, f.body_id,
                     now() + make_interval(secs => $9)
                 from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::bytea[], $7::bigint[],
                         $8::uuid[]) as f (id, bot, size, body, key, body_id)
                 where check_data_key($1, f.key)",
                scope.tenant().uuid(),
                agent.uuid(),
                &rows.ids,
                &rows.bots as &[Option<Uuid>],
                &rows.sizes as &[Option<i64>],
                &rows.bodies,
                &rows.key_ids,
                &rows.body_ids,
                good_for_secs
            )
            .execute(connection)
            .await?;
            Ok(())
        })
        .inspect_err(|_| self.bodies.forget_newest([scope.tenant()]))
    }

    async fn find_record(
        &self,
        scope: TenantScope,
        agent: AgentId,
        id: MediaId,
    ) -> Result<Option<MediaRecord>, StoreError> {
        let found = run_to_end!(self.for_tenant("find a file", scope), |connection| {
            let row = sqlx::query!(
                "select bot_id, size_bytes, body, key_id, body_id from media
                 where tenant_id = $1 and agent_id = $2 and media_id = $3 and expires_at > now()",
                scope.tenant().uuid(),
                agent.uuid(),
                id.uuid()
            )
            .fetch_optional(connection)
            .await?;
            Ok(row.map(|row| SealedRecord {
                bot: row.bot_id.map(BotId::from_uuid),
                size: row.size_bytes.map(i64::unsigned_abs),
                body: SealedBody::from_row(row.key_id, row.body_id, row.body),
            }))
        })?;
        let Some(SealedRecord { bot, size, body }) = found else { return Ok(None) };
        // A record that does not open is as good as gone.
        let opened = self.open_body(&record_owner(scope, agent), body).await?;
        Ok(opened.ok().and_then(|fields| read_record(bot, size, &fields)))
    }
}

/// A record whose fields are still sealed.
struct SealedRecord {
    bot: Option<BotId>,
    size: Option<u64>,
    body: SealedBody,
}

/// Returns the owner of a record.
const fn record_owner(scope: TenantScope, agent: AgentId) -> BodyOwner {
    BodyOwner { tenant: scope.tenant(), party: agent.uuid(), kind: BodyKind::MediaRecord }
}

/// Returns the fields of a record that are sealed: they may name or describe the content.
fn sealed_fields(record: &MediaRecord) -> Value {
    let (reference, key) = match &record.location {
        MediaLocation::Here { key } => (None, Some(key.bytes())),
        MediaLocation::There { reference, .. } => (Some(reference), None),
    };
    json!({
        "reference": reference, "key": key, "mime": record.mime, "filename": record.filename,
    })
}

fn read_record(bot: Option<BotId>, size: Option<u64>, fields: &[u8]) -> Option<MediaRecord> {
    let fields: Value = serde_json::from_slice(fields).ok()?;
    let field = |name: &str| fields[name].as_str().map(str::to_owned);
    let location = if let Some(bot) = bot {
        MediaLocation::There { bot, reference: field("reference")? }
    } else {
        let key: Vec<u8> = serde_json::from_value(fields["key"].clone()).ok()?;
        MediaLocation::Here { key: ContentKey::from_bytes(&key)? }
    };
    Some(MediaRecord { mime: field("mime"), filename: field("filename"), size, location })
}

/// Files as columns.
#[derive(Default)]
struct MediaColumns {
    ids: Vec<Uuid>,
    bots: Vec<Option<Uuid>>,
    sizes: Vec<Option<i64>>,
    bodies: Vec<Vec<u8>>,
    key_ids: Vec<i64>,
    body_ids: Vec<Uuid>,
}

impl MediaColumns {
    fn add(&mut self, id: MediaId, record: &MediaRecord, sealed: SealedBody) {
        let bot = match &record.location {
            MediaLocation::Here { .. } => None,
            MediaLocation::There { bot, .. } => Some(bot.uuid()),
        };
        self.ids.push(id.uuid());
        self.bots.push(bot);
        self.sizes.push(record.size.and_then(|size| i64::try_from(size).ok()));
        self.bodies.push(sealed.bytes);
        self.key_ids.push(sealed.key.get());
        self.body_ids.push(sealed.id.uuid());
    }
}

//! Operations on a tenant as a whole: its quotas, its keys and its end. Also the history of the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use nightdesk_types::limits::HISTORY_REASON_BYTES_MAX;
use nightdesk_types::{Incarnation, Quota, TenantId, TenantScope};
use nightdesk_users::Access;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

/// The quotas of a tenant, by their names.
pub type QuotaValues = BTreeMap<String, i64>;

/// A tenant whose data key was replaced.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RotatedTenantKey {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// The number of secrets that the new key seals.
    pub resealed: u64,
}

/// A tenant that was erased.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ErasedTenant {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// True.
    pub erased: bool,
    /// The number of texts that were removed.
    pub texts: u64,
}

/// A history that was begun.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BegunHistory {
    /// Its number.
    #[schema(value_type = i64)]
    pub incarnation: Incarnation,
}

impl Office {
    /// Returns the quotas of a tenant.
    pub async fn quotas(&self, scope: TenantScope) -> Result<QuotaValues, OfficeError> {
        let quotas = self.desk.stops.register.store().quotas(scope).await?;
        Ok(quotas.into_iter().map(|(quota, allowed)| (quota.slug().to_owned(), allowed)).collect())
    }

    /// Sets these quotas of a tenant. The others stay. Returns all of them.
    pub async fn set_quotas(
        &self,
        scope: TenantScope,
        values: &BTreeMap<String, u32>,
    ) -> Result<QuotaValues, OfficeError> {
        let quotas: Vec<_> = values
            .iter()
            .map(|(name, allowed)| read_quota(name, *allowed))
            .collect::<Result<_, _>>()?;
        for (quota, allowed) in quotas {
            self.desk.stops.register.store().set_quota(scope, quota, allowed).await?;
        }
        self.quotas(scope).await
    }

    /// Gives a tenant a new data key, and seals its secrets with it.
    pub async fn rotate_tenant_key(
        &self,
        scope: TenantScope,
    ) -> Result<RotatedTenantKey, OfficeError> {
        let custody = Arc::clone(&self.custody);
        let resealed = self.run_to_end(async move { custody.rotate_keys(scope).await }).await?;
        Ok(RotatedTenantKey { tenant_id: scope.tenant(), resealed })
    }

    /// Erases a tenant permanently. The confirmation is the tenant's name or id.
    pub async fn erase_tenant(
        &self,
        scope: TenantScope,
        confirmation: &str,
    ) -> Result<ErasedTenant, OfficeError> {
        let tenant_id = scope.tenant();
        let called = self.desk.stops.register.store().tenants_called(confirmation).await?;
        if !called.iter().any(|one| one.id == tenant_id) {
            return Err(OfficeError::Invalid(
                "confirm must be the tenant's name or id: all its keys, bots, gateways and messages \
                 would be erased, and this cannot be undone"
                    .to_owned(),
            ));
        }
        let custody = Arc::clone(&self.custody);
        let erasure = async move {
            // First, so that no crash leaves an erasure that a restore undoes.
            custody.list_erasure(tenant_id).await?;
            custody.erase_tenant(scope).await
        };
        let texts = self.run_to_end(erasure).await?;
        Ok(ErasedTenant { tenant_id, erased: true, texts })
    }

    /// Begins a new history, because the operator put back an older copy of the database.
    pub async fn begin_history(
        &self,
        access: &Access,
        reason: &str,
    ) -> Result<BegunHistory, OfficeError> {
        let is_short = (1..=HISTORY_REASON_BYTES_MAX).contains(&reason.len());
        if !is_short || reason.chars().any(char::is_control) {
            return Err(OfficeError::Invalid(format!(
                "reason must have 1 to {HISTORY_REASON_BYTES_MAX} bytes on one line"
            )));
        }
        let by = TenantScope::desk_own().with_actor(access.actor);
        Ok(BegunHistory { incarnation: self.custody.begin_history(by, reason).await? })
    }

    /// Runs work that may outlast its request: a caller that hangs up does not end it.
    async fn run_to_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, OfficeError>> + Send + 'static,
    ) -> Result<T, OfficeError> {
        let run = self.desk.stops.tasks.spawn(work).await;
        let broke_off = "the node broke off; repeat the request";
        run.unwrap_or_else(|_| Err(OfficeError::Unavailable(broke_off.to_owned())))
    }
}

fn read_quota(name: &str, allowed: u32) -> Result<(Quota, i64), OfficeError> {
    let quota = Quota::from_slug(name).ok_or_else(|| {
        let known = Quota::ALL.map(Quota::slug).join(", ");
        OfficeError::Invalid(format!("{name} is no quota; there are {known}"))
    })?;
    Ok((quota, i64::from(allowed)))
}

//! The keys of tenants, the list of erased tenants and the history of the database, for the office.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_office::{DataCustody, OfficeError};
use nightdesk_register::RegisterError;
use nightdesk_store_pg::Pg;
use nightdesk_types::{Incarnation, TenantId, TenantScope};
use nightdesk_vault::{Locksmith, RekeyError};

use crate::erasures::Erasures;

/// The custody of a node.
pub(crate) struct NodeCustody {
    pub(crate) pg: Arc<Pg>,
    pub(crate) locksmith: Locksmith,
    /// The list of erased tenants, if one is configured.
    pub(crate) erasures: Option<Arc<Erasures>>,
}

nightdesk_types::opaque_debug!(NodeCustody);

#[async_trait]
impl DataCustody for NodeCustody {
    async fn rotate_keys(&self, scope: TenantScope) -> Result<u64, OfficeError> {
        self.locksmith.rotate_tenant(scope).await.map_err(key_refusal)
    }

    async fn list_erasure(&self, tenant: TenantId) -> Result<(), OfficeError> {
        let Some(erasures) = &self.erasures else { return Ok(()) };
        erasures.add(vec![tenant]).await.map_err(|error| {
            log_list(&error);
            list_refusal("nothing was erased")
        })
    }

    async fn erase_tenant(&self, scope: TenantScope) -> Result<u64, OfficeError> {
        self.locksmith.erase(scope).await.map_err(key_refusal)
    }

    async fn begin_history(
        &self,
        by: TenantScope,
        reason: &str,
    ) -> Result<Incarnation, OfficeError> {
        let begun = self.pg.begin_history(by, reason).await?.ok_or_else(|| {
            let empty = "the database is empty; run `nightdesk migrate` first";
            OfficeError::Conflict(empty.to_owned())
        })?;
        if let Some(erasures) = &self.erasures {
            erasures.apply().await.map_err(|error| {
                log_list(&error);
                list_refusal("the history was begun, but erased tenants may be back")
            })?;
        }
        Ok(begun)
    }
}

fn log_list(error: &anyhow::Error) {
    tracing::error!("an operator's command could not use the list of erased tenants: {error:#}");
}

fn list_refusal(consequence: &str) -> OfficeError {
    OfficeError::Unavailable(format!(
        "erasure.list_file cannot be used, and {consequence}; the node's log has the cause"
    ))
}

fn key_refusal(error: RekeyError) -> OfficeError {
    match error {
        RekeyError::Store(error) => error.into(),
        RekeyError::Sealed(error) => OfficeError::Key(RegisterError::Sealed(error)),
        error @ (RekeyError::Missing(_) | RekeyError::Erased) => {
            OfficeError::Conflict(error.to_string())
        }
    }
}

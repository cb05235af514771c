//! The client: a call on one page, from its URL to its reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use nightdesk_types::TenantId;
use nightdesk_types::limits::{
    ISSUER_KEYS_BYTES_MAX, OUTSIDE_BODY_BYTES_MAX, OUTSIDE_CALL_WAIT, OUTSIDE_CONNECT_WAIT,
    TURN_MAX, WEBHOOK_ANSWER_BYTES_MAX,
};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use uuid::Uuid;

use crate::call::{CallError, CallResponse, FormPost, Method, OutsideCall, WebhookPost};
use crate::call_limits::{CALL_RATES, CallLimits, POST_RATES, TRUSTED_RATES};
use crate::dial::Dialler;
use crate::exchange::{BoundedResponse, call_request, exchange, form_request, webhook_request};
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
    /// Posts of entries, which may last for minutes, take no place of a call.
    post_pace: CallLimits,
    /// Calls that the operator configured, which no call of a tenant may hold up.
    trusted_pace: CallLimits,
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
            pace: CallLimits::new(&rules.rates, CALL_RATES),
            post_pace: CallLimits::new(&rules.rates, POST_RATES),
            trusted_pace: CallLimits::new(&rules.rates, TRUSTED_RATES),
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
        let exchange = Exchange {
            url: request.url,
            request: call_request(&request)?,
            bytes_max: OUTSIDE_BODY_BYTES_MAX,
            wait: OUTSIDE_CALL_WAIT,
            pace: &self.0.pace,
            withdrawn: None,
        };
        self.read(tenant, exchange).await
    }

    /// Posts an event for a tenant, if the limits allow it now, and waits for the response until the end of a turn.
    pub async fn post(
        &self,
        tenant: TenantId,
        post: WebhookPost<'_>,
    ) -> Result<CallResponse, CallError> {
        let exchange = Exchange {
            url: post.url,
            request: webhook_request(&post)?,
            bytes_max: WEBHOOK_ANSWER_BYTES_MAX,
            wait: TURN_MAX,
            pace: &self.0.post_pace,
            withdrawn: Some(post.withdrawn),
        };
        self.read(tenant, exchange).await
    }

    /// Gets a document of an issuer that the operator trusts, such as its keys. It may be longer than a tenant's response,
    /// and has rate limits of its own.
    pub async fn get_document(&self, url: &TenantUrl) -> Result<CallResponse, CallError> {
        let call =
            OutsideCall { url, method: Method::Get, bearer: None, signature: None, body: None };
        self.call_trusted(url, call_request(&call)?).await
    }

    /// Posts a form to a server that the operator trusts, with the same limits.
    pub async fn post_form(&self, post: FormPost<'_>) -> Result<CallResponse, CallError> {
        let url = post.url;
        self.call_trusted(url, form_request(post)?).await
    }

    async fn call_trusted(
        &self,
        url: &TenantUrl,
        request: Request<Full<Bytes>>,
    ) -> Result<CallResponse, CallError> {
        const OPERATOR: TenantId = TenantId::from_uuid(Uuid::nil());
        let exchange = Exchange {
            url,
            request,
            bytes_max: ISSUER_KEYS_BYTES_MAX,
            wait: OUTSIDE_CALL_WAIT,
            pace: &self.0.trusted_pace,
            withdrawn: None,
        };
        self.read(OPERATOR, exchange).await
    }

    async fn read(
        &self,
        tenant: TenantId,
        exchange: Exchange<'_>,
    ) -> Result<CallResponse, CallError> {
        let began = Instant::now();
        exchange.url.check(&self.0.rules)?;
        let place = exchange.pace.enter(tenant, &exchange.url.host().to_string());
        let _place = place.map_err(|retry_after| CallError::Busy { retry_after })?;
        let made = timeout(exchange.wait, self.perform(exchange)).await;
        let BoundedResponse { status, retry_after, body, is_json } =
            made.map_err(|_| CallError::TimedOut)??;
        let took = began.elapsed();
        Ok(CallResponse { status: status.as_u16(), body, is_json, retry_after, took })
    }

    async fn perform(&self, exchanged: Exchange<'_>) -> Result<BoundedResponse, CallError> {
        let Inner { rules, names, connector, .. } = &*self.0;
        let Exchange { url, request, bytes_max, pace, withdrawn, .. } = exchanged;
        let dialler = Dialler { rules, names, pace };
        let addresses = dialler.addresses(url.host()).await?;
        let connect_by = Instant::now() + OUTSIDE_CONNECT_WAIT;
        let connected = timeout_at(connect_by, dialler.connect(url, &addresses)).await;
        let stream = connected.map_err(|_| no_connection())??;
        if !url.is_https() {
            check_wanted(withdrawn)?;
            return exchange(stream, request, bytes_max).await;
        }
        let secured = timeout_at(connect_by, tls::shake_hands(&connector.0, url.host(), stream));
        let stream = secured.await.map_err(|_| no_connection())??;
        check_wanted(withdrawn)?;
        exchange(stream, request, bytes_max).await
    }
}

fn check_wanted(withdrawn: Option<&AtomicBool>) -> Result<(), CallError> {
    let is_withdrawn = withdrawn.is_some_and(|withdrawn| withdrawn.load(Ordering::Acquire));
    if is_withdrawn { Err(CallError::Withdrawn) } else { Ok(()) }
}

/// The error of a connection that was not made in time: the request was not begun.
fn no_connection() -> CallError {
    CallError::unreachable(format!("no connection within {} s", OUTSIDE_CONNECT_WAIT.as_secs()))
}

/// One request with its bounds.
struct Exchange<'a> {
    url: &'a TenantUrl,
    request: Request<Full<Bytes>>,
    bytes_max: usize,
    wait: Duration,
    pace: &'a CallLimits,
    /// Ends the exchange before its request is written.
    withdrawn: Option<&'a AtomicBool>,
}

/// Its `Debug` prints none of its content.
struct Connector(TlsConnector);

nightdesk_types::opaque_debug!(Connector);

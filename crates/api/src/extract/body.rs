//! Request bodies, read within a time and a size.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use nightdesk_types::limits::{GATEWAY_BODY_BYTES_MAX, GATEWAY_BODY_WAIT};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::problem::{self, Problem};

/// A JSON body of a route.
pub(crate) trait RequestBody: DeserializeOwned {
    /// The body that the route expects, as the 400 describes it.
    const EXPECTED: &'static str;
    /// The size limit.
    const BYTES_MAX: usize = GATEWAY_BODY_BYTES_MAX;
}

/// A parsed JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: RequestBody> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = read_up_to(T::BYTES_MAX, request.into_body()).await?;
        // The parser's own message may quote the body, and so a token.
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Self).map_err(|_| problem::BAD_REQUEST.with_detail(T::EXPECTED))
    }
}

/// Reads a body of any format.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, Problem> {
    read_up_to(GATEWAY_BODY_BYTES_MAX, body).await
}

async fn read_up_to(bytes_max: usize, body: Body) -> Result<Bytes, Problem> {
    match timeout(GATEWAY_BODY_WAIT, to_bytes(body, bytes_max)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(problem::TOO_LARGE.with_detail("the body is too long")),
        Err(_) => Err(problem::TIMEOUT.with_detail("the body did not arrive in time")),
    }
}

//! Query strings.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::{self, Problem};

/// The query parameters of a route.
pub(crate) trait QueryParameters: DeserializeOwned {
    /// The parameters that the route expects, as the 400 describes them.
    const EXPECTED: &'static str;
}

/// A parsed query string. Unknown parameters are ignored; a value that cannot be read is a 400.
pub(crate) struct UrlQuery<T>(pub(crate) T);

impl<S: Send + Sync, T: QueryParameters> FromRequestParts<S> for UrlQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parsed = Query::<T>::try_from_uri(&parts.uri);
        let Query(parameters) =
            parsed.map_err(|_| problem::BAD_REQUEST.with_detail(T::EXPECTED))?;
        Ok(Self(parameters))
    }
}

//! `POST /relay/enroll`: exchanges an enrolment token for a gateway's secret.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// The request of the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnrollRequest))]
#[serde(rename_all = "camelCase")]
pub struct EnrollRequest {
    /// The one-time token.
    pub enrollment_token: Secret,
    /// The gateway's name for itself.
    pub gateway_id: String,
}

/// The response, which the command line stores.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnrollAnswer))]
#[serde(rename_all = "camelCase")]
pub struct EnrollResponse {
    /// The secret that signs upgrade tokens.
    pub secret: Secret,
    /// A key for deliveries over HTTP, which no client serves any more.
    pub delivery_key: Secret,
    /// The tenant of the gateway.
    pub tenant: String,
    /// The name of the gateway.
    pub gateway_id: String,
}

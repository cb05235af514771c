//! `POST /relay/enroll`: a person trades an enrolment token for a gateway's secret.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// What the command line sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnrollRequest))]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The one-time token.
    pub enrollment_token: Secret,
    /// What the gateway calls itself.
    pub gateway_id: String,
}

/// What the command line gets, and keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EnrollAnswer))]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The secret to sign upgrade tokens with.
    pub secret: Secret,
    /// A key for deliveries over HTTP, which no client serves any more.
    pub delivery_key: Secret,
    /// The tenant the gateway belongs to.
    pub tenant: String,
    /// What the gateway is called.
    pub gateway_id: String,
}

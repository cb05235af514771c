//! `POST /relay/policy`: a gateway says which messages are meant for it.

use serde::{Deserialize, Serialize};

use crate::tolerant;

/// What is relevant to an agent on a platform. It replaces what was said before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = PolicyRequest))]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The platform it is about.
    pub platform: String,
    /// Whether others must name the bot or answer it.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub require_address: bool,
    /// The channels where they need not.
    #[serde(default, deserialize_with = "tolerant::texts")]
    pub free_response_scopes: Vec<String>,
    /// Whether programs count as authors.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub allow_other_bots: bool,
}

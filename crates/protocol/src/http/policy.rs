//! `POST /relay/policy`: a gateway declares which messages concern its agent.

use serde::{Deserialize, Serialize};

use crate::tolerant;

/// The relevance policy of an agent on a platform. It replaces the previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = PolicyRequest))]
#[serde(rename_all = "camelCase")]
pub struct PolicyRequest {
    /// The platform.
    pub platform: String,
    /// True if others must mention the bot or reply to it.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub require_address: bool,
    /// The channels in which they need not.
    #[serde(default, deserialize_with = "tolerant::texts")]
    pub free_response_scopes: Vec<String>,
    /// True if messages of programs count.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub allow_other_bots: bool,
}

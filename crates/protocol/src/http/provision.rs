//! `POST /relay/provision`: a gateway requests its secret, once per platform at every boot.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;
use crate::tolerant;

/// A gateway's description of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProvisionRequest))]
#[serde(rename_all = "camelCase")]
pub struct ProvisionRequest {
    /// The gateway's name for itself.
    pub gateway_id: String,
    /// The platform.
    pub platform: String,
    /// The platform's name of its bot; empty if the gateway does not know it.
    #[serde(rename = "botId", default, deserialize_with = "tolerant::text_or_empty")]
    pub bot_handle: String,
    /// The delivery URL of old connectors; empty in current clients.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub gateway_endpoint: String,
    /// The scopes in which it wants to be reached.
    #[serde(default, deserialize_with = "tolerant::texts")]
    pub route_keys: Vec<String>,
    /// The instance among several equal gateways.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// The wake URL.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub wake_url: Option<String>,
    /// The agent's name where several share one bot. Only clients after 0.19.0 send it.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// The response to a gateway.
///
/// 0.19.0 treats a response without a secret as a failure, so only newer clients may get one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProvisionAnswer))]
#[serde(rename_all = "camelCase")]
pub struct ProvisionResponse {
    /// The secret that signs upgrade tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// True if the response contains a secret.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub secret_issued: bool,
    /// A key for deliveries over HTTP, which no client serves any more.
    pub delivery_key: Secret,
    /// The tenant of the gateway.
    pub tenant: String,
    /// The name of the gateway.
    pub gateway_id: String,
    /// The scopes in which it is reached.
    #[serde(default, deserialize_with = "tolerant::texts")]
    pub route_keys: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_empty_but_for_the_names() {
        let json =
            r#"{"gatewayId":"gw","platform":"discord","botId":null,"routeKeys":["g1",7,{}]}"#;
        let request: ProvisionRequest = serde_json::from_str(json).unwrap();

        assert_eq!((request.bot_handle.as_str(), request.route_keys.len()), ("", 2));
        assert!(serde_json::from_str::<ProvisionRequest>(r#"{"platform":"discord"}"#).is_err());
        assert!(serde_json::from_str::<ProvisionRequest>(r#"{"gatewayId":"gw"}"#).is_err());
    }

    #[test]
    fn an_answer_on_the_wire() {
        let answer = ProvisionResponse {
            secret: Some(Secret::new("s3cr3t")),
            secret_issued: true,
            delivery_key: Secret::new("d3l1v3ry"),
            tenant: "t1".to_owned(),
            gateway_id: "gw".to_owned(),
            route_keys: vec!["g1".to_owned()],
        };

        let body = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(body, @r#"{"secret":"s3cr3t","secretIssued":true,"deliveryKey":"d3l1v3ry","tenant":"t1","gatewayId":"gw","routeKeys":["g1"]}"#);
        assert!(!format!("{answer:?}").contains("3r"), "a secret is not shown");
    }
}

//! `POST /relay/provision`: a gateway asks for its secret, once per platform at every boot.

use serde::{Deserialize, Serialize};

use crate::secret::Secret;
use crate::tolerant;

/// What a gateway says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProvisionRequest))]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// What it calls itself.
    pub gateway_id: String,
    /// The platform it speaks on.
    pub platform: String,
    /// What the platform calls its bot; empty if it does not know.
    #[serde(rename = "botId", default, deserialize_with = "tolerant::text_or_empty")]
    pub bot_handle: String,
    /// Where old connectors would have delivered; nowadays empty.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub gateway_endpoint: String,
    /// The scopes it wants to be reached in.
    #[serde(default, deserialize_with = "tolerant::texts")]
    pub route_keys: Vec<String>,
    /// Which of several equal gateways it is.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// Where it can be woken.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub wake_url: Option<String>,
    /// The agent's name where several speak through one bot. Only clients after 0.19.0 send it.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// What a gateway gets.
///
/// 0.19.0 takes an answer without a secret for a failure, so only newer clients may get one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ProvisionAnswer))]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The secret to sign upgrade tokens with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// Whether there is a secret in the answer.
    #[serde(default, deserialize_with = "tolerant::truth")]
    pub secret_issued: bool,
    /// A key for deliveries over HTTP, which no client serves any more.
    pub delivery_key: Secret,
    /// The tenant the gateway belongs to.
    pub tenant: String,
    /// What the gateway is called.
    pub gateway_id: String,
    /// The scopes it is reached in.
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
        let request: Request = serde_json::from_str(json).unwrap();

        assert_eq!((request.bot_handle.as_str(), request.route_keys.len()), ("", 2));
        assert!(serde_json::from_str::<Request>(r#"{"platform":"discord"}"#).is_err());
        assert!(serde_json::from_str::<Request>(r#"{"gatewayId":"gw"}"#).is_err());
    }

    #[test]
    fn an_answer_on_the_wire() {
        let answer = Answer {
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

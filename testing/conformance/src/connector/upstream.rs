//! The cases of the contract's own suite: eleven, and three more for a connector that reaches an agent.
//!
//! The compiler checks that a method exists; the case checks only that the method returns.

use nightdesk_letters::{AgentConnector, ConnectorError};
use nightdesk_protocol::delivery::{PayloadKind, RequestResponseOpts, WakeOpts};

use super::{Report, Stage, Verdict, augment, meta, must};

/// An agent that no connector knows.
const NOBODY: &str = "nobody-at-all";

pub(super) async fn check<S: Stage>(stage: &S, report: &mut Report) {
    statics::<S>(report);
    presence(stage, report).await;
    let Some(agent) = stage.agent() else { return };
    let connector = stage.connector();
    let delivered = connector.deliver(&agent, &augment("augment")).await;
    report.case("deliver_takes_augment", took(delivered.map(|receipt| receipt.delivered_at.0)));
    let template = PayloadKind::Template.make_payload("template".to_owned(), meta());
    let delivered = connector.deliver(&agent, &template).await;
    report.case("deliver_takes_template", took(delivered.map(|receipt| receipt.delivered_at.0)));
    let woken = connector.wake(&agent, &WakeOpts::default()).await;
    report.case("wake_needs_no_options", took(woken.map(|receipt| receipt.woken_at.0)));
}

fn statics<S: Stage>(report: &mut Report) {
    let is = S::Connector::static_capabilities();
    let kind = must(is.connector_type == "agent_connector", is.connector_type.clone());
    report.case("connector_type_is_right", kind);
    let parts: Vec<_> = is.contract_version.split('.').map(str::parse::<u32>).collect();
    let numbered = parts.len() == 3 && parts.iter().all(Result::is_ok);
    let named = must(!is.implementation.is_empty() && numbered, is.contract_version.clone());
    report.case("implementation_and_version_are_told", named);
    let features = serde_json::to_value(is.features).unwrap_or_default();
    let mut told = features.as_object().into_iter().flat_map(|all| all.values());
    report.case("features_are_yes_or_no", must(told.all(serde_json::Value::is_boolean), "not so"));
    let again = S::Connector::static_capabilities();
    report.case("capabilities_need_no_instance", must(is == again, "they change"));
}

async fn presence<S: Stage>(stage: &S, report: &mut Report) {
    let connector = stage.connector();
    let listed = connector.list_agents().await;
    report.case("has_list_agents", listed.as_ref().map(|_| ()).map_err(ToString::to_string));
    report.case("has_deliver", answers(&connector.deliver(NOBODY, &augment("x")).await));
    report.case("has_wake", answers(&connector.wake(NOBODY, &WakeOpts::default()).await));
    report.case("has_health_check", Ok(()));
    let opts = RequestResponseOpts { timeout_ms: 1 };
    let asked = connector.request_response(NOBODY, &augment("x"), &opts).await;
    let told = S::Connector::static_capabilities().features.request_response;
    let lacks = matches!(asked, Err(ConnectorError::NotImplemented(_)));
    report.case("has_request_response", must(told != Some(lacks), "it does not do as it says"));
    let mine = stage.agent();
    let known = listed.is_ok_and(|agents| {
        mine.is_none_or(|mine| agents.iter().any(|agent| agent.agent_id == mine))
    });
    report.case("list_agents_is_a_list", must(known, "an agent is missing"));
    report.case("health_check_is_yes", must(connector.health_check().await, "it is not healthy"));
}

/// Returns an error unless a call for an unknown agent succeeds or fails as a delivery.
fn answers<T>(came: &Result<T, ConnectorError>) -> Verdict {
    match came {
        Ok(_) | Err(ConnectorError::DeliveryFailed { .. }) => Ok(()),
        Err(error @ (ConnectorError::NotImplemented(_) | ConnectorError::Timeout { .. })) => {
            Err(error.to_string())
        }
    }
}

/// Checks that a time is in milliseconds. A time in seconds would be in 1970.
fn took(at: Result<i64, ConnectorError>) -> Verdict {
    let at = at.map_err(|error| error.to_string())?;
    must(at > 1_000_000_000_000, format!("{at} is no time in milliseconds"))
}

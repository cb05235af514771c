//! Decides in which form a stop reaches an agent's client, which caller may stop which agent, and the text that a person
//! gets.

use nightdesk_letters::Party;
use nightdesk_protocol::session_key::is_known_to_stock_clients;
use nightdesk_types::send::{NOT_RUNNING, STOP_DELIVERED, STOP_UNDELIVERED, STOPPED};
use nightdesk_types::{ClientRules, StopOutcome, Transport};

/// The facts about an agent's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientFacts {
    /// The rules that it is served by.
    pub rules: ClientRules,
    /// The transport of its open line, if it has one.
    pub transport: Option<Transport>,
    /// True if the desk posts the agent's entries to a URL.
    pub has_webhook: bool,
}

/// The form in which a stop reaches a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopDelivery {
    /// One frame with an id, which the client answers.
    Order,
    /// Frames without an answer, one for each name that the client may have for the session.
    Frames,
    /// The text `/stop`, as an entry of the chat.
    Text,
    /// None.
    Nothing(StopOutcome),
}

/// Decides the form of a stop.
///
/// Hermes 0.19 ignores frames for sessions of the platforms that it knows, and obeys the text. An agent with a webhook has
/// a line as long as any turn of it runs.
pub fn decide_delivery(client: ClientFacts, platform: &str) -> StopDelivery {
    match client.transport {
        None if client.has_webhook => StopDelivery::Nothing(StopOutcome::NotRunning),
        None => StopDelivery::Nothing(StopOutcome::Undelivered),
        Some(Transport::Polling | Transport::Webhook | Transport::Mcp) => StopDelivery::Order,
        Some(Transport::WebSocket) => match client.rules {
            ClientRules::Sdk => StopDelivery::Order,
            ClientRules::Hermes019 if is_known_to_stock_clients(platform) => StopDelivery::Text,
            ClientRules::Hermes019 | ClientRules::Hermes020 => StopDelivery::Frames,
        },
    }
}

/// Returns true if a caller may stop the turns of an agent: its own, and those of its tenant's other agents if the
/// operator allowed it.
pub fn may_stop(caller: Party, agent: Party, stops_others: bool) -> bool {
    caller.scope == agent.scope && (caller.agent == agent.agent || stops_others)
}

/// Returns the outcome that a person is told if a command reached several agents: the one that changed most.
pub fn strongest(outcomes: impl IntoIterator<Item = StopOutcome>) -> Option<StopOutcome> {
    outcomes.into_iter().min_by_key(|outcome| match outcome {
        StopOutcome::Stopped => 0,
        StopOutcome::Delivered => 1,
        StopOutcome::NotRunning => 2,
        StopOutcome::Undelivered => 3,
    })
}

/// Returns the notice to the person who stopped.
pub fn notice_text(outcome: StopOutcome, dropped: usize) -> String {
    let text = match outcome {
        StopOutcome::Stopped => STOPPED,
        StopOutcome::NotRunning => NOT_RUNNING,
        StopOutcome::Delivered => STOP_DELIVERED,
        StopOutcome::Undelivered => STOP_UNDELIVERED,
    };
    match dropped {
        0 => text.to_owned(),
        1 => format!("{text} One waiting message was set aside."),
        dropped => format!("{text} {dropped} waiting messages were set aside."),
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, TenantId, TenantScope};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn each_client_gets_the_form_that_it_understands() {
        use ClientRules::{Hermes019, Hermes020, Sdk};
        use Transport::{Mcp, Polling, WebSocket, Webhook};
        let nothing = StopDelivery::Nothing;
        let cases = [
            (Hermes019, Some(WebSocket), false, "discord", StopDelivery::Text),
            (Hermes019, Some(WebSocket), false, "telegram", StopDelivery::Text),
            (Hermes019, Some(WebSocket), false, "webchat", StopDelivery::Frames),
            (Hermes019, Some(WebSocket), false, "desk", StopDelivery::Frames),
            (Hermes020, Some(WebSocket), false, "discord", StopDelivery::Frames),
            (Hermes020, Some(WebSocket), false, "webchat", StopDelivery::Frames),
            (Sdk, Some(WebSocket), false, "discord", StopDelivery::Order),
            (Hermes019, Some(Polling), false, "discord", StopDelivery::Order),
            (Hermes019, Some(Mcp), false, "discord", StopDelivery::Order),
            (Hermes019, Some(Webhook), true, "discord", StopDelivery::Order),
            (Sdk, None, true, "discord", nothing(StopOutcome::NotRunning)),
            (Sdk, None, false, "discord", nothing(StopOutcome::Undelivered)),
            (Hermes020, None, false, "discord", nothing(StopOutcome::Undelivered)),
        ];
        for (rules, transport, has_webhook, platform, expected) in cases {
            let client = ClientFacts { rules, transport, has_webhook };
            assert_eq!(decide_delivery(client, platform), expected, "{client:?} on {platform}");
        }
    }

    #[test]
    fn an_agent_stops_itself_and_others_of_its_tenant_if_it_may() {
        let party = |tenant, agent| Party {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(tenant))),
            agent: AgentId::from_uuid(Uuid::from_u128(agent)),
        };
        let boss = party(1, 1);

        for stops_others in [false, true] {
            assert!(may_stop(boss, boss, stops_others));
            assert_eq!(may_stop(boss, party(1, 2), stops_others), stops_others);
            assert!(!may_stop(boss, party(2, 3), stops_others), "another tenant");
            assert!(!may_stop(boss, party(2, 1), stops_others), "another tenant");
        }
    }

    #[test]
    fn a_person_is_told_what_changed_most() {
        use StopOutcome::{Delivered, NotRunning, Stopped, Undelivered};
        assert_eq!(strongest([Undelivered, NotRunning, Stopped]), Some(Stopped));
        assert_eq!(strongest([NotRunning, Delivered]), Some(Delivered));
        assert_eq!(strongest([]), None);
        assert_eq!(notice_text(Stopped, 0), STOPPED);
        assert!(notice_text(Undelivered, 2).ends_with("2 waiting messages were set aside."));
    }
}

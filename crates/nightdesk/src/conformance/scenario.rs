//! The scenarios of a trial, and their faults.

use clap::ValueEnum;

use super::fault::{FaultAction, FaultRule, SignalKind};
use super::judge::{Expectations, ExpectedEnd};

/// A transport between an agent and the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrialTransport {
    /// A WebSocket.
    Line,
    /// Requests to `/v1/line/…`.
    Polling,
    /// Posts of the desk to the agent.
    Webhook,
    /// The tools `inbox_take`, `inbox_ack` and `send`.
    Mcp,
}

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrialScenario {
    /// One person writes, and gets each text back.
    Echo,
    /// Several people write at once, one of them while a long turn runs.
    Chats,
    /// One person writes several messages without a pause.
    Order,
    /// Entries come twice, at once or after their ack.
    Duplicates,
    /// Connections end before an entry, in a turn, and while nothing happens.
    Cuts,
    /// A send and the result of a send get lost.
    LostResults,
    /// Acks get lost.
    LostAcks,
    /// The desk takes no line at first.
    BusyDesk,
    /// A second line of the same agent replaces the first.
    Replaced,
    /// More entries than a window wait.
    Window,
    /// A turn is stopped.
    Stop,
    /// The program is killed in a turn, and started again.
    Kill,
    /// The gateway is revoked.
    Revoked,
    /// An entry with a wrong signature is posted.
    Forgery,
}

impl TrialTransport {
    pub(super) fn name(self) -> String {
        value_name(&self)
    }
}

fn value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl TrialScenario {
    pub(super) fn name(self) -> String {
        value_name(&self)
    }

    /// Returns the description, which is that of the command's help.
    pub(super) fn about(self) -> String {
        let value = self.to_possible_value();
        let help = value.and_then(|value| value.get_help().map(ToString::to_string));
        help.unwrap_or_default()
    }

    /// Returns the scenarios of a transport, or those of them that are named.
    pub(super) fn choose(transport: TrialTransport, named: &[Self]) -> Vec<Self> {
        let is_chosen = |scenario: &Self| {
            scenario.fits(transport) && (named.is_empty() || named.contains(scenario))
        };
        Self::value_variants().iter().copied().filter(is_chosen).collect()
    }

    /// Returns true if the scenario exists on a transport. An agent that is called has no line of its own, and its answers
    /// are the responses to posts.
    const fn fits(self, transport: TrialTransport) -> bool {
        let is_posted = matches!(transport, TrialTransport::Webhook);
        match self {
            Self::Echo
            | Self::Chats
            | Self::Order
            | Self::Duplicates
            | Self::Cuts
            | Self::LostAcks
            | Self::Window
            | Self::Stop
            | Self::Kill => true,
            Self::LostResults | Self::BusyDesk | Self::Replaced | Self::Revoked => !is_posted,
            Self::Forgery => is_posted,
        }
    }

    /// Returns the faults on the signals between the program and the desk.
    pub(super) fn rules(self, transport: TrialTransport) -> Vec<FaultRule> {
        use FaultAction::{Again, CutAfter, CutBefore, Refuse, Swallow, Twice};
        use SignalKind::{Ack, Dial, Entry, Send, SendResult};
        match self {
            Self::Duplicates => vec![
                FaultRule::one(Entry, 1, Twice),
                FaultRule::one(Entry, 2, Again),
                FaultRule::one(Entry, 3, Again),
                FaultRule::one(Entry, 4, Twice),
            ],
            // The connection of a post is cut by a rule, and those of a program by the script.
            Self::Cuts => match transport {
                TrialTransport::Webhook => {
                    vec![FaultRule::one(Entry, 1, CutBefore), FaultRule::one(Entry, 2, CutAfter)]
                }
                TrialTransport::Line | TrialTransport::Polling | TrialTransport::Mcp => {
                    vec![FaultRule::one(Entry, 1, CutBefore)]
                }
            },
            Self::LostResults => {
                vec![FaultRule::one(Send, 1, CutBefore), FaultRule::one(SendResult, 2, CutBefore)]
            }
            Self::LostAcks => vec![FaultRule::each(Ack, Swallow)],
            Self::BusyDesk => vec![FaultRule::each(Dial, Refuse)],
            Self::Echo
            | Self::Chats
            | Self::Order
            | Self::Replaced
            | Self::Window
            | Self::Stop
            | Self::Kill
            | Self::Revoked
            | Self::Forgery => Vec::new(),
        }
    }

    pub(super) const fn expectations(self) -> Expectations {
        let end = match self {
            Self::Revoked => ExpectedEnd::Revoked,
            Self::Echo
            | Self::Chats
            | Self::Order
            | Self::Duplicates
            | Self::Cuts
            | Self::LostResults
            | Self::LostAcks
            | Self::BusyDesk
            | Self::Replaced
            | Self::Window
            | Self::Stop
            | Self::Kill
            | Self::Forgery => ExpectedEnd::Running,
        };
        let is_stop = matches!(self, Self::Stop);
        let is_forgery = matches!(self, Self::Forgery);
        Expectations { end, stops: is_stop as usize, forgeries: is_forgery as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_has_its_scenarios() {
        let names = |transport| -> Vec<String> {
            let chosen = TrialScenario::choose(transport, &[]);
            chosen.into_iter().map(TrialScenario::name).collect()
        };
        let dialled = names(TrialTransport::Line);

        assert_eq!(dialled.len(), 13);
        assert_eq!(names(TrialTransport::Polling), dialled);
        assert_eq!(names(TrialTransport::Mcp), dialled);
        assert_eq!(names(TrialTransport::Webhook).len(), 10);
        assert!(!dialled.contains(&"forgery".to_owned()));
    }

    #[test]
    fn a_named_scenario_is_the_only_one() {
        let chosen = TrialScenario::choose(TrialTransport::Line, &[TrialScenario::Kill]);

        assert_eq!(chosen, [TrialScenario::Kill]);
        assert!(!TrialScenario::Kill.about().is_empty());
    }
}

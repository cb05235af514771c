//! Connectors that break the contract in one known way. One case must catch each of them.

use super::drawer::DrawerStage;
use super::{Report, run};

/// A fault of a connector. The first four are those of an example that passes the contract's own suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A wake contains only its recipient.
    WakeLosesContext,
    /// `agent@session` is looked up as a whole, and not found.
    CompositeUnknown,
    /// An agent that cannot be interrupted gets nothing.
    PassiveWakeLost,
    /// A wake has no proofs.
    WakeUnproven,
    /// The receipt reports a wake that did not happen.
    WokenLies,
    /// The suffix of the address overrides `session_id`.
    SuffixWins,
    /// A letter to an unknown agent succeeds.
    UnknownSaysOk,
    /// A connector with a broken environment succeeds.
    BrokenSaysOk,
    /// A repeated letter is delivered twice.
    RepeatsTwice,
    /// An unknown trigger kind is refused.
    ClosedTriggerKinds,
    /// A wake for later is reported as done.
    LaterIsNow,
    /// A template arrives as an augment.
    TemplateIsAugment,
    /// Listing the agents sends a message.
    ListingTells,
    /// A field that is not set is sent as `null`.
    NullsOut,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 14] = [
        Self::WakeLosesContext,
        Self::CompositeUnknown,
        Self::PassiveWakeLost,
        Self::WakeUnproven,
        Self::WokenLies,
        Self::SuffixWins,
        Self::UnknownSaysOk,
        Self::BrokenSaysOk,
        Self::RepeatsTwice,
        Self::ClosedTriggerKinds,
        Self::LaterIsNow,
        Self::TemplateIsAugment,
        Self::ListingTells,
        Self::NullsOut,
    ];

    /// Returns the case that must catch the fault.
    pub const fn caught_by(self) -> &'static str {
        match self {
            Self::WakeLosesContext | Self::PassiveWakeLost => "wake_hands_its_context_over",
            Self::CompositeUnknown => "wake_by_a_composite_address_reaches_the_agent",
            Self::WakeUnproven => "a_wake_shows_the_same_proofs",
            Self::WokenLies => "woken_is_honest",
            Self::SuffixWins => "session_id_beats_the_suffix",
            Self::UnknownSaysOk => "unknown_agents_fail",
            Self::BrokenSaysOk => "what_is_broken_fails",
            Self::RepeatsTwice => "one_dispatch_id_is_one_message",
            Self::ClosedTriggerKinds => "any_trigger_kind_is_taken",
            Self::LaterIsNow => "a_wake_for_later_is_not_said_to_be_done",
            Self::TemplateIsAugment => "deliver_hands_a_template_over_as_one",
            Self::ListingTells => "listing_is_cheap_and_changes_nothing",
            Self::NullsOut => "what_is_not_set_is_left_out",
        }
    }

    /// Returns true if only a connector that interrupts can have the fault.
    const fn interrupts(self) -> bool {
        matches!(self, Self::LaterIsNow)
    }
}

/// Runs every case over every fault.
pub async fn planted() -> Vec<(Fault, Report)> {
    let mut reports = Vec::new();
    for fault in Fault::ALL {
        let stage = DrawerStage::new(Some(fault), fault.interrupts());
        reports.push((fault, run(&stage).await));
    }
    reports
}

/// Returns the number of faults, and the number that their own case caught.
pub(super) fn count(reports: &[(Fault, Report)]) -> (usize, usize) {
    let caught = |(fault, report): &&(Fault, Report)| report.failed().contains(&fault.caught_by());
    (reports.len(), reports.iter().filter(caught).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of cases of the contract's own suite for a connector that reaches an agent.
    const OWN_CASES: usize = 14;

    #[tokio::test]
    async fn a_connector_without_faults_passes_whether_it_interrupts_or_not() {
        for interrupts in [true, false] {
            let report = run(&DrawerStage::new(None, interrupts)).await;
            assert_eq!(report.failed(), [""; 0], "{:?}", report.cases);
        }
    }

    #[tokio::test]
    async fn each_fault_is_caught_by_the_case_that_is_there_for_it() {
        for (fault, report) in planted().await {
            assert!(report.failed().contains(&fault.caught_by()), "{fault:?}: {:?}", report.cases);
        }
    }

    #[tokio::test]
    async fn the_contracts_own_suite_sees_none_of_the_examples_faults() {
        let example = &Fault::ALL[..4];
        let reports = planted().await.into_iter().filter(|(fault, _)| example.contains(fault));
        for (fault, report) in reports {
            let own = &report.cases[..OWN_CASES];
            assert!(own.iter().all(|(_, verdict)| verdict.is_ok()), "{fault:?}: {own:?}");
        }
    }
}

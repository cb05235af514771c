//! Planted: connectors that break the contract in one known way, each of which one case must catch.

use super::drawer::DrawerStage;
use super::{Report, run};

/// What a connector does wrong. The first four are those of an example that passes the contract's own suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A wake says nothing but whom it is for.
    WakeLosesContext,
    /// `agent@session` is looked up as a whole, and not found.
    CompositeUnknown,
    /// Who cannot be interrupted gets nothing at all.
    PassiveWakeLost,
    /// A wake shows nothing for itself.
    WakeUnproven,
    /// It says that it woke somebody, and did not.
    WokenLies,
    /// The suffix of the address counts more than the session that is named apart.
    SuffixWins,
    /// Nobody takes it, and it says that all is well.
    UnknownSaysOk,
    /// What it needs is broken, and it says that all is well.
    BrokenSaysOk,
    /// The same letter twice is two letters.
    RepeatsTwice,
    /// A word that it does not know is refused.
    ClosedTriggerKinds,
    /// A wake for later is said to be done.
    LaterIsNow,
    /// What is to be done arrives as something to know.
    TemplateIsAugment,
    /// Asking for the list tells somebody.
    ListingTells,
    /// What is not set is sent as `null`.
    NullsOut,
}

impl Fault {
    /// Every one there is.
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

    /// The case that is there for it.
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

    /// Whether only who can interrupt can do it wrong.
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

/// How many faults there were, and how many were caught by the case that is there for them.
pub(super) fn count(reports: &[(Fault, Report)]) -> (usize, usize) {
    let caught = |(fault, report): &&(Fault, Report)| report.failed().contains(&fault.caught_by());
    (reports.len(), reports.iter().filter(caught).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many cases the contract's own suite has where somebody is reached.
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

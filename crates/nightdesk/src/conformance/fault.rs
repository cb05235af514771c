//! Faults of a scenario: which signals between program and desk are lost, repeated or answered with a cut.

/// A kind of signal between a program and the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalKind {
    /// The program asks for a line.
    Dial,
    /// The desk hands an entry over.
    Entry,
    /// The program acknowledges.
    Ack,
    /// The program sends.
    Send,
    /// The desk returns the result of a send.
    SendResult,
}

const KINDS: usize = 5;

/// The action on a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultAction {
    Pass,
    /// The signal passes, and a copy of it follows at once.
    Twice,
    /// The entry passes, and a copy of it follows after its ack.
    Again,
    /// The signal is lost, and its sender does not notice it.
    Swallow,
    /// The connection ends in place of the signal.
    CutBefore,
    /// The connection ends after the signal.
    CutAfter,
    /// The dial is answered with 503.
    Refuse,
}

/// An action on signals of one kind, by their numbers. The first is number 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultRule {
    pub(super) on: SignalKind,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) action: FaultAction,
}

impl FaultRule {
    /// A rule for one signal.
    pub(super) const fn one(on: SignalKind, number: usize, action: FaultAction) -> Self {
        Self { on, first: number, last: number, action }
    }

    /// A rule for every signal of a kind.
    pub(super) const fn each(on: SignalKind, action: FaultAction) -> Self {
        Self { on, first: 1, last: usize::MAX, action }
    }
}

/// The faults of a scenario, and the signals that were counted.
#[derive(Debug, Default)]
pub(super) struct FaultPlan {
    rules: Vec<FaultRule>,
    counts: [usize; KINDS],
}

impl FaultPlan {
    pub(super) fn new(rules: &[FaultRule]) -> Self {
        Self { rules: rules.to_vec(), counts: [0; KINDS] }
    }

    /// Counts a signal, and returns the action on it: that of the first rule that names it.
    pub(super) fn next_action(&mut self, kind: SignalKind) -> FaultAction {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        let number = *count;
        let names_it =
            |rule: &&FaultRule| rule.on == kind && (rule.first..=rule.last).contains(&number);
        self.rules.iter().find(names_it).map_or(FaultAction::Pass, |rule| rule.action)
    }

    /// Ends all faults.
    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_counts_the_signals_of_its_own_kind() {
        let rules = [
            FaultRule::one(SignalKind::Send, 2, FaultAction::CutAfter),
            FaultRule::one(SignalKind::Ack, 1, FaultAction::Swallow),
            FaultRule::each(SignalKind::Entry, FaultAction::Twice),
        ];
        let mut plan = FaultPlan::new(&rules);
        let mut next = |kind| plan.next_action(kind);

        assert_eq!(next(SignalKind::Send), FaultAction::Pass);
        assert_eq!(next(SignalKind::Ack), FaultAction::Swallow);
        assert_eq!(next(SignalKind::Send), FaultAction::CutAfter);
        assert_eq!(next(SignalKind::Send), FaultAction::Pass);
        assert_eq!(next(SignalKind::Ack), FaultAction::Pass);
        assert_eq!([(); 3].map(|()| next(SignalKind::Entry)), [FaultAction::Twice; 3]);
        assert_eq!(next(SignalKind::Dial), FaultAction::Pass);
    }

    #[test]
    fn a_cleared_plan_has_no_faults() {
        let mut plan = FaultPlan::new(&[FaultRule::each(SignalKind::Ack, FaultAction::Swallow)]);
        plan.clear();

        assert_eq!(plan.next_action(SignalKind::Ack), FaultAction::Pass);
    }
}

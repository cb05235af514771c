//! The causes of alerts, as a store and the nodes find them.

use nightdesk_types::limits::ALERT_SAMPLE_CHARS_MAX;
use nightdesk_types::{TenantScope, Timestamp};

use crate::kind::AlertKind;

/// A cause of an alert: all subjects of one kind, of a tenant or of the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertCause {
    /// The tenant, or [`TenantScope::desk_own`].
    pub scope: TenantScope,
    /// The kind.
    pub kind: AlertKind,
    /// The number of entries, events, bots, agents, fires, quotas, certificates or folders.
    pub count: u64,
    /// The number of subjects: an agent with many parked entries is one.
    pub subjects: u64,
    /// The first subjects, each on one line.
    pub samples: Vec<String>,
    /// The beginning of the oldest.
    pub since: Timestamp,
}

/// The causes of some kinds at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseScan {
    /// The kinds that were looked for.
    pub kinds: Vec<AlertKind>,
    /// The causes, at most one for each tenant and kind.
    pub causes: Vec<AlertCause>,
    /// False if there may be more causes than a scan returns. Then an absent cause means nothing.
    pub is_complete: bool,
}

/// A cause that a node finds on its own machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFinding {
    /// The kind.
    pub kind: AlertKind,
    /// The subject, on one line.
    pub subject: String,
}

/// Returns a text on one line, and not too long. Names of jobs and reasons of platforms come from outside.
pub fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(ALERT_SAMPLE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_one_short_line() {
        assert_eq!(one_line("tidy\nup\t"), "tidy up ");
        assert_eq!(one_line(&"é".repeat(1_000)).chars().count(), ALERT_SAMPLE_CHARS_MAX);
    }
}

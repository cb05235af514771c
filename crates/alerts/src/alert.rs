//! An alert as its row has it.

use std::time::Duration;

use nightdesk_types::limits::{
    ALERT_CLEAR_AFTER, ALERT_CLEAR_AFTER_RETURN, ALERT_REPEATED_AFTER, ALERT_REPEATED_EVERY,
};
use nightdesk_types::{TenantScope, Timestamp};

use crate::cause::AlertCause;
use crate::kind::AlertKind;

/// The newest alert of a kind, of a tenant or of the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The tenant, or [`TenantScope::desk_own`].
    pub scope: TenantScope,
    /// The kind.
    pub kind: AlertKind,
    /// The time at which it was opened. With the tenant and the kind, it identifies the alert.
    pub opened_at: Timestamp,
    /// The last time at which its cause was recorded as seen.
    pub seen_at: Timestamp,
    /// The time at which it was resolved. `None`: it is open.
    pub resolved_at: Option<Timestamp>,
    /// The number of its messages so far: one when it was opened, one for each repetition, one when it was resolved.
    pub version: u32,
    /// The time of the last of them.
    pub changed_at: Timestamp,
    /// The number of repetitions.
    pub repeats: u32,
    /// True if it came back soon after it was resolved. Then its cause must be gone for longer.
    pub is_return: bool,
    /// The count of the cause, as in [`AlertCause::count`].
    pub count: u64,
    /// The number of subjects.
    pub subjects: u64,
    /// The first subjects.
    pub samples: Vec<String>,
    /// The beginning of the oldest, since the alert was opened.
    pub since: Timestamp,
}

impl Alert {
    /// Opens an alert.
    pub(crate) fn open(cause: &AlertCause, is_return: bool, now: Timestamp) -> Self {
        Self {
            scope: cause.scope,
            kind: cause.kind,
            opened_at: now,
            seen_at: now,
            resolved_at: None,
            version: 1,
            changed_at: now,
            repeats: 0,
            is_return,
            count: cause.count,
            subjects: cause.subjects,
            samples: cause.samples.clone(),
            since: cause.since,
        }
    }

    /// Returns true if its cause was there at the last look, or not gone for long enough.
    pub const fn is_open(&self) -> bool {
        self.resolved_at.is_none()
    }

    /// Records that the cause is there.
    pub(crate) fn see(self, cause: &AlertCause, now: Timestamp) -> Self {
        let AlertCause { scope: _, kind: _, count, subjects, samples, since } = cause.clone();
        let since = self.since.min(since);
        Self { seen_at: now, count, subjects, samples, since, ..self }
    }

    /// Counts a repetition.
    pub(crate) fn repeat(self, now: Timestamp) -> Self {
        let repeats = self.repeats.saturating_add(1);
        Self { repeats, version: self.version.saturating_add(1), changed_at: now, ..self }
    }

    /// Resolves it.
    pub(crate) fn resolve(self, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { resolved_at: Some(now), version, changed_at: now, ..self }
    }

    /// Returns true if the row shows this cause.
    pub(crate) fn shows(&self, cause: &AlertCause) -> bool {
        let AlertCause { scope, kind, count, subjects, samples, since: _ } = cause;
        (self.scope, self.kind, self.count, self.subjects) == (*scope, *kind, *count, *subjects)
            && self.samples == *samples
    }

    /// Returns the time of the next repetition.
    pub(crate) fn repeated_at(&self) -> Timestamp {
        let nth = usize::try_from(self.repeats).unwrap_or(usize::MAX);
        match ALERT_REPEATED_AFTER.get(nth) {
            Some(span) => later_by(self.opened_at, *span),
            None => later_by(self.changed_at, ALERT_REPEATED_EVERY),
        }
    }

    /// Returns the time at which it is resolved if its cause stays away.
    pub(crate) fn clear_at(&self) -> Timestamp {
        let span = if self.is_return { ALERT_CLEAR_AFTER_RETURN } else { ALERT_CLEAR_AFTER };
        later_by(self.seen_at, span)
    }
}

/// Returns a later time.
pub(crate) fn later_by(at: Timestamp, span: Duration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

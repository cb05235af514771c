//! Configuration of wakes.

use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::ensure;
use jiff::SignedDuration;
use nightdesk_types::limits::{
    STILL_WAKING_AFTER, STILL_WAKING_AFTER_MIN, WAKE_DEADLINE, WAKES_PER_HOUR,
};
use nightdesk_wake::WakeCommand;
use serde::Deserialize;

/// The wake settings. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WakeSection {
    /// Maximum wakes of one agent per hour. Further wakes wait until the hour is over, and the agent's owner is
    /// notified.
    pub(crate) per_hour: NonZeroU32,
    /// A program of the operator that wakes agents, with its arguments: it runs if an agent's URLs failed or it has
    /// none. It gets `{agent}` and `{tenant}`, no shell, and ten seconds. Without it, only URLs are called.
    pub(crate) command: Vec<String>,
    /// The time after which the author of the oldest waiting message is told that the agent is still waking, as `3m` or
    /// `90s`.
    pub(crate) still_waking_after: SignedDuration,
}

impl Default for WakeSection {
    fn default() -> Self {
        let per_hour = NonZeroU32::new(WAKES_PER_HOUR).unwrap_or(NonZeroU32::MIN);
        let still_waking_after = SignedDuration::try_from(STILL_WAKING_AFTER).unwrap_or_default();
        Self { per_hour, command: Vec::new(), still_waking_after }
    }
}

impl WakeSection {
    /// Returns the program, if there is one.
    pub(crate) fn by_command(&self) -> anyhow::Result<Option<WakeCommand>> {
        if self.command.is_empty() {
            return Ok(None);
        }
        Ok(Some(WakeCommand::new(&self.command)?))
    }

    /// Returns the time after which an author is told of a delay.
    pub(crate) fn still_waking_after(&self) -> anyhow::Result<Duration> {
        let after = Duration::try_from(self.still_waking_after).unwrap_or_default();
        ensure!(
            (STILL_WAKING_AFTER_MIN..=WAKE_DEADLINE).contains(&after),
            "wake.still_waking_after is {:#}; it must be at least {} s and at most {} h",
            self.still_waking_after,
            STILL_WAKING_AFTER_MIN.as_secs(),
            WAKE_DEADLINE.as_secs() / 3_600
        );
        Ok(after)
    }
}

//! Defines times and limits. The defaults are Discord's.

use std::time::Duration;

/// Times and limits of the fake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Heartbeat interval of a client. After twice as long without one, its socket is closed.
    pub heartbeat_every: Duration,
    /// Lifetime of a session without a socket.
    pub session_life: Duration,
    /// Minimum time between two IDENTIFYs of the same bucket.
    pub identify_every: Duration,
    /// Time limit for the first response to an interaction.
    pub interaction_wait: Duration,
    /// Lifetime of an interaction's token.
    pub interaction_life: Duration,
    /// Lifetime of a file's URL.
    pub link_life: Duration,
    /// Maximum size of a bot's file.
    pub file_bytes_max: usize,
    /// Number of calls per bucket and window.
    pub bucket_calls: u32,
    /// Length of a window.
    pub bucket_window: Duration,
    /// Offset of its clock ahead of ours.
    pub ahead_by: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            heartbeat_every: Duration::from_millis(41_250),
            session_life: Duration::from_mins(3),
            identify_every: Duration::from_secs(5),
            interaction_wait: Duration::from_secs(3),
            interaction_life: Duration::from_mins(15),
            link_life: Duration::from_hours(24),
            file_bytes_max: 10 * 1024 * 1024,
            bucket_calls: 50,
            bucket_window: Duration::from_secs(1),
            ahead_by: Duration::ZERO,
        }
    }
}

impl Settings {
    /// Sets one by its name, for a program.
    pub(super) fn set(&mut self, name: &str, ms: u64) -> Option<()> {
        let span = Duration::from_millis(ms);
        match name {
            "heartbeat_every" => self.heartbeat_every = span,
            "session_life" => self.session_life = span,
            "identify_every" => self.identify_every = span,
            "interaction_wait" => self.interaction_wait = span,
            "interaction_life" => self.interaction_life = span,
            "link_life" => self.link_life = span,
            "ahead_by" => self.ahead_by = span,
            "bucket_calls" => self.bucket_calls = u32::try_from(ms).ok()?,
            "bucket_window" => self.bucket_window = span,
            _ => return None,
        }
        Some(())
    }
}

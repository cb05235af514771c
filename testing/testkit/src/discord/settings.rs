//! Settings: how long things take and live. What is not changed is as Discord has it.

use std::time::Duration;

/// How long things take and live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How often a client shall send a heartbeat. After twice as long without one, its socket is closed.
    pub heartbeat_every: Duration,
    /// How long a session lives without a socket.
    pub session_life: Duration,
    /// How long after an IDENTIFY the next one of the same bucket may come.
    pub identify_every: Duration,
    /// How soon an interaction must be answered.
    pub interaction_wait: Duration,
    /// How long an interaction's token is good for.
    pub interaction_life: Duration,
    /// How long the address of a file is good for.
    pub link_life: Duration,
    /// How large a file may be that a bot sends.
    pub file_bytes_max: usize,
    /// How many calls a bucket takes in a window.
    pub bucket_calls: u32,
    /// How long a window is.
    pub bucket_window: Duration,
    /// How far its clock is ahead of ours.
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

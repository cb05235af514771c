//! Jobs: the requests of agents to be called at an instant.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{
    CATCH_UP, CATCH_UP_MAX, FIRE_AT_BYTES_MAX, JITTER_MAX, JOB_ID_BYTES_MAX, JOB_WORDS_BYTES_MAX,
};

/// Start of the year 9999. A duration can be added to every earlier instant without overflow.
const YEAR_9999_SECS: i64 = 253_370_764_800;

/// The reason why a job is refused, in words for the author of the agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadJob {
    /// The name is empty, too long, or has control characters.
    #[error("job_id must be 1 to {JOB_ID_BYTES_MAX} bytes of text without control characters")]
    Id,
    /// The instant is not readable.
    #[error(
        "fire_at must be an instant with an offset from UTC, as 2026-06-18T12:34:56+00:00, \
         before the year 9999"
    )]
    FireAt,
    /// The text is too long or has a NUL.
    #[error("words must be at most {JOB_WORDS_BYTES_MAX} bytes, without NUL")]
    Words,
    /// The catch-up time is too long.
    #[error("catch_up_seconds must be at most {}", CATCH_UP_MAX.as_secs())]
    CatchUp,
    /// The jitter is too large.
    #[error("jitter_seconds must be at most {}", JITTER_MAX.as_secs())]
    Jitter,
}

/// The agent's name for one of its jobs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(String);

impl JobId {
    /// Prefix of the jobs that the desk arms itself, to put a letter. An agent may not use it.
    pub const OF_LETTERS: &str = "letter:";

    /// Returns true if the desk armed the job itself.
    pub fn is_of_letters(&self) -> bool {
        self.0.starts_with(Self::OF_LETTERS)
    }

    /// Checks a name and wraps it unchanged.
    pub fn new(text: impl Into<String>) -> Result<Self, BadJob> {
        let text = text.into();
        let fits = !text.is_empty() && text.len() <= JOB_ID_BYTES_MAX;
        if fits && !text.chars().any(char::is_control) { Ok(Self(text)) } else { Err(BadJob::Id) }
    }

    /// Returns the name unchanged.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An instant and the agent's notation of it, because agents compare the text byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireAt {
    text: String,
    at: Timestamp,
}

impl FireAt {
    /// Parses an instant with an offset from UTC.
    pub fn parse(text: impl Into<String>) -> Result<Self, BadJob> {
        let text = text.into();
        if text.len() > FIRE_AT_BYTES_MAX {
            return Err(BadJob::FireAt);
        }
        let at = Timestamp::from_str(&text).map_err(|_| BadJob::FireAt)?;
        if at.as_second() < YEAR_9999_SECS { Ok(Self { text, at }) } else { Err(BadJob::FireAt) }
    }

    /// Creates an instant in the desk's own notation.
    pub fn from_timestamp(at: Timestamp) -> Self {
        Self { text: at.to_string(), at }
    }

    /// Returns the text of the instant.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the time.
    pub const fn instant(&self) -> Timestamp {
        self.at
    }
}

/// An agent's request for one call at an instant. It replaces the job's earlier arming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmRequest {
    /// The job.
    pub job: JobId,
    /// The instant. An instant in the past is due at once.
    pub fire_at: FireAt,
    /// The destination of the fire.
    pub to: Target,
    /// True if the agent arms the job again after each fire. If it does not, its owner gets a notice.
    pub recurring: bool,
    /// True if the agent reports the end of each run.
    pub reports: bool,
    /// The rules for late and overlapping instants.
    pub policies: Policies,
}

/// The destination of a fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A URL of the agent.
    Callback(String),
    /// The agent's inbox, with this text.
    Inbox(String),
}

impl Target {
    /// Returns the inbox with a text that is checked.
    pub fn inbox(words: impl Into<String>) -> Result<Self, BadJob> {
        let words = words.into();
        let fits = words.len() <= JOB_WORDS_BYTES_MAX && !words.contains('\0');
        fits.then_some(Self::Inbox(words)).ok_or(BadJob::Words)
    }
}

/// The rules for late and overlapping instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policies {
    /// The rule for an instant that is due before the previous run is over.
    pub overlap: Overlap,
    /// The delay after which a fire is missed. A delay below [`FIRE_LATE`] never counts.
    ///
    /// [`FIRE_LATE`]: nightdesk_types::limits::FIRE_LATE
    pub catch_up: Duration,
    /// The largest delay that is added to the instant, so that agents do not all fire at once.
    pub jitter: Duration,
}

impl Default for Policies {
    fn default() -> Self {
        Self { overlap: Overlap::BufferOne, catch_up: CATCH_UP, jitter: Duration::ZERO }
    }
}

impl Policies {
    /// Returns the policies if they are within the limits.
    pub fn check(self) -> Result<Self, BadJob> {
        if self.catch_up > CATCH_UP_MAX {
            return Err(BadJob::CatchUp);
        }
        if self.jitter > JITTER_MAX { Err(BadJob::Jitter) } else { Ok(self) }
    }
}

/// The rule for a fire that is due before the previous run is over. The desk knows this only of agents that report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// The fire is skipped.
    Skip,
    /// The fire waits until the run is over. At most one fire waits: arming the job again ends the wait.
    #[default]
    BufferOne,
    /// The agent is called.
    AllowAll,
}

nightdesk_types::slugs! {
    Overlap:
    Skip = "skip",
    BufferOne = "buffer_one",
    AllowAll = "allow_all",
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_instant_is_kept_as_it_was_written() {
        for (text, at) in [
            ("2026-06-18T12:34:56+00:00", "2026-06-18T12:34:56Z"),
            ("2026-11-14T23:49:13.961760+00:00", "2026-11-14T23:49:13.96176Z"),
            ("2026-11-14T23:49:13.961760-05:30", "2026-11-15T05:19:13.96176Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("-009999-01-02T01:59:59Z", "-009999-01-02T01:59:59Z"),
            ("9998-12-31T23:59:59Z", "9998-12-31T23:59:59Z"),
        ] {
            let read = FireAt::parse(text).unwrap();
            assert_eq!(read.as_str(), text);
            assert_eq!(read.instant(), at.parse().unwrap(), "{text}");
        }
    }

    #[test]
    fn what_names_no_instant_is_refused() {
        let long = format!("2026-06-18T12:34:56.{}Z", "0".repeat(FIRE_AT_BYTES_MAX));
        for text in [
            "",
            "soon",
            "2026-06-18",
            "2026-06-18T12:34:56",
            "2026-02-30T00:00:00Z",
            "9999-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "10000-01-01T00:00:00Z",
            "+292278994-08-17T07:12:55Z",
            "2026-06-18T25:00:00Z",
            "1790000000",
            long.as_str(),
        ] {
            assert_eq!(FireAt::parse(text), Err(BadJob::FireAt), "{text}");
        }
    }

    #[test]
    fn a_name_is_text_of_sane_length() {
        assert!(JobId::new("d43b5e05b613").is_ok());
        assert!(JobId::new("ü".repeat(JOB_ID_BYTES_MAX / 2)).is_ok());
        for text in ["", "a\0b", "a\nb", &"x".repeat(JOB_ID_BYTES_MAX + 1)] {
            assert_eq!(JobId::new(text), Err(BadJob::Id), "{text:?}");
        }
    }

    #[test]
    fn policies_are_kept_to_or_refused() {
        let default = Policies::default();
        assert_eq!(default.check(), Ok(default));
        let moment = Duration::from_nanos(1);
        let late = Policies { catch_up: CATCH_UP_MAX + moment, ..default };
        assert_eq!(late.check(), Err(BadJob::CatchUp));
        let wild = Policies { jitter: JITTER_MAX + moment, ..default };
        assert_eq!(wild.check(), Err(BadJob::Jitter));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn no_text_breaks_the_reader(text in ".{0,80}") {
            if let Ok(read) = FireAt::parse(text.clone()) {
                prop_assert_eq!(read.as_str(), text);
            }
        }

        #[test]
        fn every_instant_comes_back(
            second in -377_705_023_201_i64..YEAR_9999_SECS - 1, nano in 0..1_000_000_000_i32,
            offset in -25 * 3_600..=25 * 3_600_i32,
        ) {
            let at = Timestamp::new(second, 0).unwrap();
            let at = at.checked_add(Duration::from_nanos(nano.unsigned_abs().into())).unwrap_or(at);
            prop_assert_eq!(FireAt::parse(FireAt::from_timestamp(at).as_str()).unwrap().instant(), at);
            // Offsets are written in whole minutes.
            let shift = jiff_offset(offset / 60 * 60);
            let text = at.display_with_offset(shift).to_string();
            if let Ok(read) = FireAt::parse(text.clone()) {
                prop_assert_eq!(read.as_str(), text);
                prop_assert_eq!(read.instant(), at);
            }
        }
    }

    fn jiff_offset(seconds: i32) -> jiff::tz::Offset {
        jiff::tz::Offset::from_seconds(seconds).unwrap()
    }
}

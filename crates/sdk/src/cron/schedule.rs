//! Schedules: the times at which a job is due. Every time is a whole second.

use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use nightdesk_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::limits::{EVERY_MAX, EVERY_MIN, PATTERN_BYTES_MAX};

/// The times at which a job is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "When", into = "When")]
pub struct Schedule(When);

/// The stored form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum When {
    Every { seconds: u32 },
    Cron { pattern: String, zone: String },
    At(Timestamp),
}

/// The reason that a schedule is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSchedule {
    /// The interval is too short, too long, or not in whole seconds.
    #[error(
        "an interval has whole seconds, {} s to {} s",
        EVERY_MIN.as_secs(),
        EVERY_MAX.as_secs()
    )]
    Every,
    /// The expression cannot be parsed.
    #[error("not a cron expression; write minute, hour, day, month and weekday, like 30 8 * * 1-5")]
    Pattern,
    /// The time zone is unknown.
    #[error("not a time zone; write it like Europe/Berlin")]
    Zone,
    /// The schedule has no future time.
    #[error("the schedule has no future time")]
    Never,
}

impl Schedule {
    /// Is due at each interval, the first time after one interval. The times do not drift, independent of the runs.
    ///
    /// # Errors
    ///
    /// The interval is too short, too long, or not in whole seconds.
    pub fn every(interval: Duration) -> Result<Self, BadSchedule> {
        let seconds = u32::try_from(interval.as_secs()).map_err(|_| BadSchedule::Every)?;
        if interval.subsec_nanos() != 0 {
            return Err(BadSchedule::Every);
        }
        When::Every { seconds }.try_into()
    }

    /// Is due at the times of a cron expression of five fields, in UTC.
    ///
    /// # Errors
    ///
    /// The expression cannot be parsed, or has no future time.
    pub fn cron(pattern: impl Into<String>) -> Result<Self, BadSchedule> {
        Self::cron_in(pattern, "UTC")
    }

    /// Is due at the times of a cron expression in a time zone such as `Europe/Berlin`. A time in the hour that is
    /// skipped in spring is made up for right after, and one in the hour that is repeated in autumn counts once.
    ///
    /// # Errors
    ///
    /// The zone is unknown; the expression cannot be parsed, or has no future time.
    pub fn cron_in(
        pattern: impl Into<String>,
        zone: impl Into<String>,
    ) -> Result<Self, BadSchedule> {
        When::Cron { pattern: pattern.into(), zone: zone.into() }.try_into()
    }

    /// Is due once. A time that has passed is due at once.
    pub fn at(time: Timestamp) -> Self {
        Self(When::At(round_up_second(time)))
    }

    /// Returns true if it is due more than once.
    pub(super) const fn recurs(&self) -> bool {
        !matches!(self.0, When::At(_))
    }

    /// Returns the first due time of a job that is created now.
    pub(super) fn first(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            When::Every { seconds } => round_up_second(now).checked_add(secs(*seconds)).ok(),
            When::Cron { pattern, zone } => next_match(pattern, zone, now),
            When::At(time) => Some(*time),
        }
    }

    /// Returns the first time after `last` that has not passed.
    pub(super) fn next(&self, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            When::Every { seconds } => step(last, *seconds, now),
            When::Cron { pattern, zone } => next_match(pattern, zone, last.max(now)),
            When::At(_) => None,
        }
    }
}

impl TryFrom<When> for Schedule {
    type Error = BadSchedule;

    fn try_from(when: When) -> Result<Self, BadSchedule> {
        match &when {
            When::Every { seconds } => {
                let fits = (EVERY_MIN..=EVERY_MAX).contains(&secs(*seconds));
                fits.then_some(()).ok_or(BadSchedule::Every)?;
            }
            When::Cron { pattern, zone } => {
                let pattern = parse_pattern(pattern).ok_or(BadSchedule::Pattern)?;
                let zone = zone_of(zone).ok_or(BadSchedule::Zone)?;
                find(&pattern, zone, Timestamp::UNIX_EPOCH).ok_or(BadSchedule::Never)?;
            }
            When::At(time) => return Ok(Self::at(*time)),
        }
        Ok(Self(when))
    }
}

impl From<Schedule> for When {
    fn from(schedule: Schedule) -> Self {
        schedule.0
    }
}

fn secs(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

/// Rounds up to a whole second.
fn round_up_second(time: Timestamp) -> Timestamp {
    let begun = i64::from(time.subsec_nanosecond() > 0);
    Timestamp::from_second(time.as_second().saturating_add(begun)).unwrap_or(time)
}

/// Returns the first of `last`, one interval later, two intervals later … that is after both.
fn step(last: Timestamp, seconds: u32, now: Timestamp) -> Option<Timestamp> {
    let every = i64::from(seconds);
    let passed = now.as_second().saturating_sub(last.as_second()).max(0);
    let steps = (passed / every).checked_add(1)?;
    let next = last.as_second().checked_add(steps.checked_mul(every)?)?;
    Timestamp::from_second(next).ok()
}

fn next_match(pattern: &str, zone: &str, after: Timestamp) -> Option<Timestamp> {
    find(&parse_pattern(pattern)?, zone_of(zone)?, after)
}

fn find(pattern: &Cron, zone: TimeZone, after: Timestamp) -> Option<Timestamp> {
    let next = pattern.find_next_occurrence(&after.to_zoned(zone), false).ok()?;
    // In a repeated hour, a time of day must not be returned a second time.
    Some(round_up_second(next.timestamp())).filter(|next| *next > after)
}

fn parse_pattern(pattern: &str) -> Option<Cron> {
    // An expression of more than five fields is another dialect, in which the first field has another meaning.
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(pattern).ok().filter(|_| pattern.len() <= PATTERN_BYTES_MAX)
}

fn zone_of(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok().filter(|_| name.len() <= PATTERN_BYTES_MAX)
}

#[cfg(test)]
mod tests;

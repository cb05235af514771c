//! Schedule: when a job is due. Every time is a whole second.

use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use nightdesk_types::Timestamp;
use serde::{Deserialize, Serialize};

use super::limits::{EVERY_MAX, EVERY_MIN, PATTERN_BYTES_MAX};

/// When a job is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "When", into = "When")]
pub struct Schedule(When);

/// As it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum When {
    Every { seconds: u32 },
    Cron { pattern: String, zone: String },
    At(Timestamp),
}

/// Why this is no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSchedule {
    /// The time between two fires is too short, too long, or not of whole seconds.
    #[error(
        "an interval is of whole seconds, {} s to {} s",
        EVERY_MIN.as_secs(),
        EVERY_MAX.as_secs()
    )]
    Every,
    /// The expression cannot be read.
    #[error("not a cron expression; write minute, hour, day, month and weekday, like 30 8 * * 1-5")]
    Pattern,
    /// No such zone is known.
    #[error("not a time zone; write it like Europe/Berlin")]
    Zone,
    /// It will never be due.
    #[error("no such time will come")]
    Never,
}

impl Schedule {
    /// Every so often, first after that long. The times do not drift, whenever the runs end.
    ///
    /// # Errors
    ///
    /// The interval is too short, too long, or not of whole seconds.
    pub fn every(interval: Duration) -> Result<Self, BadSchedule> {
        let seconds = u32::try_from(interval.as_secs()).map_err(|_| BadSchedule::Every)?;
        if interval.subsec_nanos() != 0 {
            return Err(BadSchedule::Every);
        }
        When::Every { seconds }.try_into()
    }

    /// At the times that a cron expression of five fields names, in UTC.
    ///
    /// # Errors
    ///
    /// The expression cannot be read, or names no time that will come.
    pub fn cron(pattern: impl Into<String>) -> Result<Self, BadSchedule> {
        Self::cron_in(pattern, "UTC")
    }

    /// The same in a time zone, as `Europe/Berlin`. An hour that is skipped there in spring is
    /// made up for right after, and one that comes twice in autumn counts once for a time of day.
    ///
    /// # Errors
    ///
    /// The zone is not known; the expression cannot be read, or names no time that will come.
    pub fn cron_in(
        pattern: impl Into<String>,
        zone: impl Into<String>,
    ) -> Result<Self, BadSchedule> {
        When::Cron { pattern: pattern.into(), zone: zone.into() }.try_into()
    }

    /// Once. A time that has passed is due at once.
    pub fn at(time: Timestamp) -> Self {
        Self(When::At(whole(time)))
    }

    /// Whether it is due more than once.
    pub(super) const fn recurs(&self) -> bool {
        !matches!(self.0, When::At(_))
    }

    /// When a job that was made now is due.
    pub(super) fn first(&self, now: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            When::Every { seconds } => whole(now).checked_add(secs(*seconds)).ok(),
            When::Cron { pattern, zone } => next_of(pattern, zone, now),
            When::At(time) => Some(*time),
        }
    }

    /// When it is due after it was due `last`: the first such time that has not passed.
    pub(super) fn next(&self, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            When::Every { seconds } => step(last, *seconds, now),
            When::Cron { pattern, zone } => next_of(pattern, zone, last.max(now)),
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
                let pattern = parsed(pattern).ok_or(BadSchedule::Pattern)?;
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

/// The whole second that this is, or the one after it.
fn whole(time: Timestamp) -> Timestamp {
    let begun = i64::from(time.subsec_nanosecond() > 0);
    Timestamp::from_second(time.as_second().saturating_add(begun)).unwrap_or(time)
}

/// The first of `last`, one interval later, two intervals later … that lies after both.
fn step(last: Timestamp, seconds: u32, now: Timestamp) -> Option<Timestamp> {
    let every = i64::from(seconds);
    let passed = now.as_second().saturating_sub(last.as_second()).max(0);
    let steps = (passed / every).checked_add(1)?;
    let next = last.as_second().checked_add(steps.checked_mul(every)?)?;
    Timestamp::from_second(next).ok()
}

fn next_of(pattern: &str, zone: &str, after: Timestamp) -> Option<Timestamp> {
    find(&parsed(pattern)?, zone_of(zone)?, after)
}

fn find(pattern: &Cron, zone: TimeZone, after: Timestamp) -> Option<Timestamp> {
    let next = pattern.find_next_occurrence(&after.to_zoned(zone), false).ok()?;
    // Where an hour comes twice, a time of day must not seem to be ahead once more.
    Some(whole(next.timestamp())).filter(|next| *next > after)
}

fn parsed(pattern: &str) -> Option<Cron> {
    // More than five fields is another dialect, in which the first one means something else.
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(pattern).ok().filter(|_| pattern.len() <= PATTERN_BYTES_MAX)
}

fn zone_of(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok().filter(|_| name.len() <= PATTERN_BYTES_MAX)
}

#[cfg(test)]
mod tests;

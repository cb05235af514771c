//! Formats counts and times for printing.

use std::time::Duration;

/// Returns the rate per second.
pub fn per_second(count: u64, elapsed: Duration) -> f64 {
    ratio(float(count), elapsed.as_secs_f64())
}

/// Returns the used percentage of one core.
pub fn core_percent(cpu: Duration, elapsed: Duration) -> f64 {
    100.0 * ratio(cpu.as_secs_f64(), elapsed.as_secs_f64())
}

/// Returns the core microseconds per item.
pub fn micros_each(cpu: Duration, count: u64) -> f64 {
    1e6 * ratio(cpu.as_secs_f64(), float(count))
}

/// Returns the growth per item. A decrease counts as zero.
pub fn growth_each(before: u64, after: u64, count: u64) -> f64 {
    ratio(float(after.saturating_sub(before)), float(count))
}

/// Returns the percentile in milliseconds.
pub fn percentile_ms(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(place).map_or(0.0, |time| 1e3 * time.as_secs_f64())
}

/// Returns the median: of an even number, the greater of the two in the middle.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Returns a share of a count.
pub fn share(some: u64, all: u64) -> f64 {
    ratio(float(some), float(all))
}

/// Returns the quotient, or zero if the divisor is zero.
pub fn ratio(one: f64, other: f64) -> f64 {
    if other > 0.0 { one / other } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "the counts are far below 2^52")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let mut times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let cases = [
            ("half", percentile_ms(&mut times, 50), 100.0),
            ("most", percentile_ms(&mut times, 99), 198.0),
            ("all", percentile_ms(&mut times, 100), 200.0),
            ("one", percentile_ms(&mut times[..1], 99), 1.0),
            ("nothing", percentile_ms(&mut [], 99), 0.0),
        ];
        for (name, got, want) in cases {
            assert!((got - want).abs() < 1e-9, "{name}: {got}");
        }
    }

    #[test]
    fn figures_are_what_their_names_say() {
        let second = Duration::from_secs(1);
        let cases = [
            ("rate", per_second(30, 2 * second), 15.0),
            ("rate of no time", per_second(30, Duration::ZERO), 0.0),
            ("two of three", share(2, 3), 2.0 / 3.0),
            ("half a core", core_percent(second, 2 * second), 50.0),
            ("two cores", core_percent(4 * second, 2 * second), 200.0),
            ("a hundred microseconds each", micros_each(second, 10_000), 100.0),
            ("nothing happened", micros_each(second, 0), 0.0),
            ("memory", growth_each(1_000, 28_000, 1_000), 27.0),
            ("memory given back", growth_each(28_000, 1_000, 1_000), 0.0),
        ];
        for (name, got, want) in cases {
            assert!((got - want).abs() < 1e-9, "{name}: {got}");
        }
    }
}

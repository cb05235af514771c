//! Formats the times of jobs and fires in a zone.

use jiff::tz::TimeZone;
use nightdesk_types::Timestamp;
use serde_json::Value;

/// The members of a job or a fire that are times.
const TIMES: [&str; 6] = ["due", "last_at", "began", "ended", "run_ended", "should_be_armed_since"];

/// Returns a job or a fire with its times in a zone. A job contains its last fire.
pub(super) fn shown_in_zone(mut row: Value, zone: &TimeZone) -> Value {
    for name in TIMES {
        let at = row.get(name).and_then(Value::as_str).and_then(|at| at.parse().ok());
        if let Some(at) = at {
            row[name] = format_time(at, zone).into();
        }
    }
    if let Some(last) = row.get_mut("last").filter(|last| last.is_object()) {
        *last = shown_in_zone(last.take(), zone);
    }
    row
}

fn format_time(at: Timestamp, zone: &TimeZone) -> String {
    at.display_with_offset(zone.to_offset(at)).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_times_of_a_job_and_of_its_last_fire_are_in_the_zone() {
        let fire = json!({ "due": "2026-12-24T17:00:00Z", "job": "report", "ended": null });
        let job = json!({ "due": null, "last": fire, "last_at": "2026-12-24T17:00:00Z" });
        let shown = shown_in_zone(job, &TimeZone::fixed(jiff::tz::offset(1)));

        assert_eq!(
            shown,
            json!({
                "due": null,
                "last": { "due": "2026-12-24T18:00:00+01:00", "job": "report", "ended": null },
                "last_at": "2026-12-24T18:00:00+01:00",
            })
        );
    }
}

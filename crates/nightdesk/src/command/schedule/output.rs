//! Formats jobs and fires.

use jiff::tz::TimeZone;
use nightdesk_schedule::{Fire, ScheduledJob, Target};
use nightdesk_types::Timestamp;
use serde_json::{Value, json};

/// Returns the fields of a job in a list.
pub(super) fn job(job: &ScheduledJob, zone: &TimeZone) -> Value {
    let last = job.last.as_ref();
    json!({
        "agent": job.agent_name,
        "job": job.arm.job.as_str(),
        "due": job.next_at.map(|at| format_time(at, zone)),
        "state": state(job),
        "last": last.map(|fire| fire.state.slug()),
        "last_at": last.map(|fire| format_time(fire.fire_at.instant(), zone)),
        "key": format!("{}/{}", job.agent, job.arm.job),
    })
}

const fn state(job: &ScheduledJob) -> &'static str {
    match (job.next_at, job.flagged_at) {
        (Some(_), _) => "armed",
        (None, Some(_)) => "should be armed",
        (None, None) => "not armed",
    }
}

/// Returns all fields of a job.
pub(super) fn job_json(found: &ScheduledJob, zone: &TimeZone) -> Value {
    let ScheduledJob { id, agent, arming, arm, flagged_at, last, .. } = found;
    let mut shown = job(found, zone);
    let (to, words) = match &arm.to {
        Target::Callback(url) => (url.as_str(), None),
        Target::Inbox(words) => ("its inbox", Some(words)),
    };
    shown["agent_id"] = json!(agent);
    shown["schedule_id"] = json!(id);
    shown["arming"] = json!(arming);
    shown["told_at"] = json!(to);
    shown["words"] = json!(words);
    shown["recurring"] = json!(arm.recurring);
    shown["reports"] = json!(arm.reports);
    shown["overlap"] = json!(arm.policies.overlap.slug());
    shown["catch_up_seconds"] = json!(arm.policies.catch_up.as_secs());
    shown["jitter_seconds"] = json!(arm.policies.jitter.as_secs());
    shown["should_be_armed_since"] = json!(flagged_at.map(|at| format_time(at, zone)));
    shown["last"] = json!(last.as_ref().map(|last| fire(last, zone)));
    shown
}

/// Returns the result of a fire.
pub(super) fn fire(fire: &Fire, zone: &TimeZone) -> Value {
    json!({
        "due": format_time(fire.fire_at.instant(), zone),
        "job": fire.job.as_str(),
        "state": fire.state.slug(),
        "cause": fire.cause.map(nightdesk_schedule::FireCause::slug),
        "tries": fire.tries,
        "outcome": fire.outcome,
        "began": format_time(fire.began_at, zone),
        "ended": fire.ended_at.map(|at| format_time(at, zone)),
        "run_ended": fire.run.as_ref().map(|(at, _, _)| format_time(*at, zone)),
        "run_ok": fire.run.as_ref().map(|(_, ok, _)| *ok),
        "run_note": fire.run.as_ref().and_then(|(_, _, note)| note.clone()),
        "agent_id": fire.agent,
        "fire_id": fire.id,
    })
}

/// Formats a time in a zone, in whole seconds.
pub(super) fn format_time(at: Timestamp, zone: &TimeZone) -> String {
    let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
    at.display_with_offset(zone.to_offset(at)).to_string()
}

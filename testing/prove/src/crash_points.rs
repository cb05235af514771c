//! Names the desk's failpoints by the numbers of crash points in the list of promises.

use std::time::Duration;

/// Crash points with the names of their failpoints.
const NAMES: [(&str, &str); 24] = [
    ("K1", "desk::event_verified"),
    ("K2", "inbox::before_accept"),
    ("K3", "store_pg::before_accept"),
    ("K4", "inbox::stored_before_answer"),
    ("K5", "desk::stored_before_ring"),
    ("K6", "desk::bell_rung"),
    ("K7", "line::entries_read"),
    ("K8", "line::entries_flushed"),
    ("K9", "line::ack_received"),
    ("K10", "line::ack_written"),
    ("K11", "line::backlog_page"),
    ("K12", "line::backlog_read"),
    ("K13", "egress::claimed_before_call"),
    ("K14", "egress::called_before_receipt"),
    ("K15", "egress::receipt_stored"),
    ("K16", "desk::bot_owned_before_dial"),
    ("K17", "discord::session_begun_before_store"),
    ("K18", "wake::before_call"),
    ("K19", "wake::called_before_note"),
    ("K20", "schedule::before_call"),
    ("K21", "schedule::taken_before_note"),
    ("K22", "schedule::taken_noted"),
    ("K23", "vault::batch_rewritten"),
    ("K24", "desk::revoked_before_ring"),
];

/// The variable that names a crash point.
const CRASH: &str = "NIGHTDESK_CRASH";

/// Returns the environment variable that makes a desk abort at a pass of a crash point.
pub fn environment(number: &str, pass: usize) -> (&'static str, String) {
    (CRASH, format!("{}:{pass}", name(number)))
}

/// Returns true if a desk with these environment variables has a crash point.
pub fn has_crash_point(environment: &[(&str, String)]) -> bool {
    environment.iter().any(|(variable, _)| *variable == CRASH)
}

/// Returns the environment variable that makes a desk block its threads from a pass of a crash point on, for a time.
pub fn blocking(number: &str, pass: usize, lasts: Duration) -> (&'static str, String) {
    ("NIGHTDESK_BLOCK", format!("{}:{pass}:{}", name(number), lasts.as_millis()))
}

fn name(number: &str) -> &str {
    let found = NAMES.iter().find(|(known, _)| *known == number);
    found.map_or(number, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::NAMES;

    const CALL: &str = "fail_point!(\"";

    /// Collects the names of the failpoints in all Rust files of a folder.
    fn collect(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let calls = text.split(CALL).skip(1).filter_map(|call| call.split('"').next());
                names.extend(calls.map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_failpoint_of_the_product_has_a_number() {
        let root = Path::new("../..");
        let mut names = BTreeSet::new();
        for folder in ["crates", "platforms"] {
            collect(&root.join(folder), &mut names);
        }

        let numbered: BTreeSet<String> = NAMES.map(|(_, name)| name.to_owned()).into();
        assert_eq!(names, numbered);
    }
}

//! Prints the result of a seed.

use nightdesk_judge::Verdict;

use crate::ui;

/// Maximum violations of one seed that are printed.
const TOLD_MAX: usize = 5;

/// A verdict, or the reason why there is none.
pub(crate) type Judged = Result<Verdict, String>;

pub(crate) fn is_good(judged: &Judged) -> bool {
    judged.as_ref().is_ok_and(|verdict| verdict.violations.is_empty())
}

/// Prints the result of a seed, and the command to repeat it if it failed.
pub(crate) fn tell(seed: u64, judged: &Judged) {
    match judged {
        Ok(verdict) => tell_verdict(seed, verdict),
        Err(why) => ui::say(&format!("seed {seed}: {why}")),
    }
    if !is_good(judged) {
        ui::say(&format!("replay: just sim {seed}"));
    }
}

fn tell_verdict(seed: u64, verdict: &Verdict) {
    ui::say(&format!("seed {seed}: {}", verdict.summary()));
    for violation in verdict.violations.iter().take(TOLD_MAX) {
        ui::say(&violation.to_string());
    }
}

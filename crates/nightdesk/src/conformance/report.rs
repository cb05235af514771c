//! The results of a trial.

use std::time::Duration;

use serde_json::{Value, json};

use super::facts::TimedFact;
use super::judge::judge;
use super::scenario::{TrialScenario, TrialTransport};
use crate::ui::{self, CommandOutput};

/// The result of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScenarioOutcome {
    Passed,
    /// The most important fault, in one sentence.
    Failed(String),
}

impl ScenarioOutcome {
    /// Judges the observations of a scenario. A script that could not go on is a fault only if the judge finds no other.
    pub(super) fn of(
        facts: &[TimedFact],
        scenario: TrialScenario,
        played: anyhow::Result<()>,
    ) -> Self {
        let faults = judge(facts, scenario.expectations());
        match (faults.into_iter().next(), played) {
            (Some(fault), _) => Self::Failed(fault),
            (None, Err(error)) => Self::from_error(&error),
            (None, Ok(())) => Self::Passed,
        }
    }

    pub(super) fn from_error(error: &anyhow::Error) -> Self {
        Self::Failed(format!("{error:#}"))
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
        }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::Failed(reason) => reason,
        }
    }
}

/// A scenario and its result.
#[derive(Clone, Debug)]
pub(super) struct ScenarioReport {
    pub(super) scenario: TrialScenario,
    pub(super) outcome: ScenarioOutcome,
    /// The last lines that the program wrote.
    pub(super) output: Vec<String>,
    pub(super) took: Duration,
}

impl ScenarioReport {
    /// Prints the result for a person who waits, and the program's output after a failure.
    pub(super) fn print_progress(&self) {
        let secs = self.took.as_secs_f64();
        ui::print_text(&format!("  {} after {secs:.1} s", self.outcome.name()));
        if self.outcome != ScenarioOutcome::Passed {
            self.output.iter().for_each(|line| ui::print_text(&format!("  | {line}")));
        }
    }

    fn to_json(&self) -> Value {
        let is_passed = self.outcome == ScenarioOutcome::Passed;
        json!({
            "scenario": self.scenario.name(),
            "result": self.outcome.name(),
            "reason": (!is_passed).then(|| self.outcome.reason()),
            "seconds": (self.took.as_secs_f64() * 10.0).round() / 10.0,
        })
    }
}

/// The results of all scenarios.
#[derive(Clone, Debug)]
pub(super) struct TrialReport {
    pub(super) transport: TrialTransport,
    pub(super) scenarios: Vec<ScenarioReport>,
}

impl TrialReport {
    pub(super) fn failed(&self) -> usize {
        let passed = |report: &&ScenarioReport| report.outcome == ScenarioOutcome::Passed;
        self.scenarios.len() - self.scenarios.iter().filter(passed).count()
    }

    pub(super) fn print(&self, json: bool) {
        ui::print_output(json, CommandOutput::Told { data: self.to_json(), text: self.table() });
    }

    fn to_json(&self) -> Value {
        let failed = self.failed();
        json!({
            "transport": self.transport.name(),
            "scenarios": self.scenarios.iter().map(ScenarioReport::to_json).collect::<Vec<_>>(),
            "passed": self.scenarios.len() - failed,
            "failed": failed,
        })
    }

    fn table(&self) -> String {
        let mut table = format!("{:<14}{:<8}{:>7}  reason", "scenario", "result", "time");
        for ScenarioReport { scenario, outcome, took, .. } in &self.scenarios {
            let (name, secs) = (scenario.name(), took.as_secs_f64());
            let row = format!("{name:<14}{:<8}{secs:>5.1} s  {}", outcome.name(), outcome.reason());
            table.push('\n');
            table.push_str(row.trim_end());
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> TrialReport {
        let scenario = |scenario, outcome| ScenarioReport {
            scenario,
            outcome,
            output: Vec::new(),
            took: Duration::from_millis(1240),
        };
        let fault = ScenarioOutcome::Failed("it slept".to_owned());
        TrialReport {
            transport: TrialTransport::Line,
            scenarios: vec![
                scenario(TrialScenario::Echo, ScenarioOutcome::Passed),
                scenario(TrialScenario::LostResults, fault),
            ],
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_scenario() {
        let want = "scenario      result     time  reason\n\
                    echo          passed    1.2 s\n\
                    lost-results  failed    1.2 s  it slept";

        assert_eq!(report().table(), want);
        assert_eq!(report().failed(), 1);
    }

    #[test]
    fn programs_get_the_same_as_json() {
        let data = report().to_json();

        assert_eq!((&data["passed"], &data["failed"]), (&json!(1), &json!(1)));
        assert_eq!(data["scenarios"][0]["reason"], Value::Null);
        assert_eq!(data["scenarios"][1]["reason"], "it slept");
        assert_eq!(data["scenarios"][1]["seconds"], 1.2);
    }

    #[test]
    fn a_script_that_could_not_go_on_is_a_failure() {
        let broken = Err(anyhow::anyhow!("no line within 60 s"));
        let outcome = ScenarioOutcome::of(&[], TrialScenario::Echo, broken);

        assert_eq!(outcome, ScenarioOutcome::Failed("no line within 60 s".to_owned()));
        assert_eq!(ScenarioOutcome::of(&[], TrialScenario::Echo, Ok(())), ScenarioOutcome::Passed);
    }
}

//! Runs `.ci/advisory-age` with dates of different ages, and with a database that can or cannot be reached.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Relative to the package, in which tests run: a build that is reused elsewhere must not read the first place.
const SCRIPT: &str = "../.ci/advisory-age";

/// Returns what a command prints, without the line's end.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).expect("it prints text").trim_end().to_owned()
}

/// A folder with the date file and a git repository in place of the database.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn set() -> Self {
        let stage = Self { folder: TempDir::new().expect("a folder") };
        output(Command::new("git").args(["init", "-q"]).arg(stage.database()));
        stage
    }

    fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("database")
    }

    /// Checks a copy that was taken so many days ago.
    fn check(&self, days: i64, database: &Path) -> Output {
        let taken =
            output(Command::new("date").args(["-u", "+%F", "-d", &format!("{:+} days", -days)]));
        let file = self.folder.path().join("taken.date");
        fs::write(&file, format!("{taken}\n")).expect("the date is written");
        Command::new("bash").arg(SCRIPT).arg(file).arg(database).output().expect("the script runs")
    }
}

#[test]
fn an_old_advisory_database_fails_where_it_can_be_renewed_and_warns_elsewhere() {
    let stage = Stage::set();
    let (reachable, unreachable) = (stage.database(), stage.folder.path().join("nowhere"));
    let cases = [
        ("of today", 0, &reachable, true, ""),
        ("at the limit", 30, &reachable, true, ""),
        ("past the limit", 31, &reachable, false, "error: "),
        ("past the limit without a network", 31, &unreachable, true, "warning: "),
        ("of tomorrow", -1, &unreachable, false, "error: "),
    ];
    for (name, days, database, is_good, begins) in cases {
        let output = stage.check(days, database);
        let errors = String::from_utf8(output.stderr).expect("it prints text");
        assert_eq!(output.status.success(), is_good, "{name}: {errors}");
        assert!(errors.starts_with(begins), "{name}: {errors}");
        assert_eq!(
            errors.contains("just renew-advisories"),
            !begins.is_empty(),
            "{name}: {errors}"
        );
    }
}

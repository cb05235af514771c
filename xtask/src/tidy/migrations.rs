//! Finds migrations that are incompatible with nodes of the previous release.
//!
//! Nodes of two releases run side by side while a cell is upgraded (decision 0019), so a migration may add objects, and
//! may remove only those that the previous release no longer uses. Its author states that in a comment above the
//! statement: `-- contract: …`.

use super::Finding;
use crate::repo::TextFile;

/// The folder of the migrations.
const FOLDER: &str = "crates/store-pg/migrations/";

/// The last migration before the first release, up to which any change is permitted.
const FREE_UP_TO: &str = "20261115002200";

/// Prefix of the author's statement that an object is unused.
const SAID: &str = "-- contract: ";

/// Finds statements that remove an object without the author's statement.
pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let Some(name) = file.path.strip_prefix(FOLDER).filter(|_| file.has_extension("sql")) else {
        return Vec::new();
    };
    if name.get(..FREE_UP_TO.len()).is_none_or(|version| version <= FREE_UP_TO) {
        return Vec::new();
    }
    let taken = statements(&file.text).into_iter().filter(|statement| !statement.is_said);
    taken
        .filter_map(|Statement { line, text, .. }| {
            let what = takes_away(&text)?;
            let what = format!(
                "{what}: nodes of the release before need it; put it off by a release, or say \
                 above it `{SAID}` and since when nobody does"
            );
            Some(Finding::in_line(&file.path, line, what))
        })
        .collect()
}

/// A top-level statement, not one in a function's body.
#[derive(Debug)]
struct Statement {
    line: usize,
    /// The text in lower case, without comments.
    text: String,
    is_said: bool,
}

/// Splits SQL into statements. The project's SQL begins statements at the margin, and indents their content.
fn statements(sql: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut is_said = false;
    for (number, line) in sql.lines().enumerate() {
        if line.starts_with("--") {
            is_said |= line.strip_prefix(SAID).is_some_and(|why| !why.trim().is_empty());
            continue;
        }
        let code = line.split("--").next().unwrap_or_default().to_lowercase();
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            statements.push(Statement { line: number, text: code, is_said });
            is_said = false;
        } else if let Some(statement) = statements.last_mut() {
            statement.text.push(' ');
            statement.text.push_str(code.trim());
        }
    }
    statements
}

/// Returns the part of a statement that is incompatible with an older node.
fn takes_away(statement: &str) -> Option<&'static str> {
    const DROPPED: [&str; 4] = ["drop table", "drop function", "drop view", "drop type"];
    const ALTERED: [&str; 4] = ["drop column", "rename", "set not null", " type "];
    let dropped = DROPPED.into_iter().find(|taken| statement.starts_with(taken));
    if dropped.is_some() || !statement.starts_with("alter ") {
        return dropped;
    }
    let demands = ["add column", "not null"].iter().all(|part| statement.contains(part))
        && !statement.contains("default");
    let altered = ALTERED.into_iter().find(|taken| statement.contains(taken));
    altered.or_else(|| demands.then_some("a new column without a default that must not be null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, sql: &str) -> usize {
        let path = format!("{FOLDER}{name}");
        check(&TextFile { path, text: sql.to_owned() }).len()
    }

    #[test]
    fn a_migration_adds_and_says_so_if_it_takes_away() {
        let cases = [
            ("a new table", "create table t (\n    a text not null\n);", 0),
            ("a new column", "alter table t add column a text not null default '';", 0),
            ("a column nobody fills", "alter table t\n    add column a text not null;", 1),
            ("a dropped column", "alter table t\n    drop column a;", 1),
            ("a new name", "alter table t rename to u;", 1),
            ("a stricter column", "ALTER TABLE t ALTER COLUMN a SET NOT NULL;", 1),
            ("a dropped table", "drop table t;", 1),
            ("a dropped function", "drop function f(text);", 1),
            ("a dropped index", "drop index i;", 0),
            ("a function that drops", "create function f() as $$\n    drop table t;\n$$;", 0),
            ("said", "-- contract: not asked for since 0.3.\ndrop table t;", 0),
            ("said without a reason", "-- contract: \ndrop table t;", 1),
            ("said of another", "-- contract: since 0.3\ndrop table t;\ndrop table u;", 1),
            ("only spoken of", "-- Once there was drop table t.\nselect 1;", 0),
        ];
        for (name, sql, want) in cases {
            assert_eq!(found("20261201000100_x.sql", sql), want, "{name}");
        }
    }

    #[test]
    fn what_was_there_before_the_first_release_may_do_anything() {
        assert_eq!(found("20261115002200_office.sql", "drop table t;"), 0);
        assert_eq!(found("20261115002201_x.sql", "drop table t;"), 1);
    }
}

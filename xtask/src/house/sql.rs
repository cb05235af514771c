//! Finds function definitions in migrations that a later migration replaces.

use std::collections::BTreeMap;

use crate::repo::TextFile;

const MIGRATIONS: &str = "crates/store-pg/migrations/";

/// Returns the lines of definitions for which a newer one exists.
pub(super) fn superseded(texts: &[TextFile]) -> Vec<String> {
    let mut files: Vec<&TextFile> =
        texts.iter().filter(|file| file.path.starts_with(MIGRATIONS)).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let mut newest: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut old = Vec::new();
    for file in files {
        for (name, places) in definitions(file) {
            old.extend(newest.insert(name, places).unwrap_or_default());
        }
    }
    old
}

/// Returns the functions that a migration defines, each with its lines up to the end of its body.
fn definitions(file: &TextFile) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut is_inside = false;
    for (number, line) in file.text.lines().enumerate() {
        let lower = line.to_lowercase();
        let begins = lower
            .strip_prefix("create function ")
            .or_else(|| lower.strip_prefix("create or replace function "));
        if let Some(rest) = begins {
            let name = rest.split('(').next().unwrap_or(rest).trim().to_owned();
            found.push((name, Vec::new()));
            is_inside = true;
        }
        if is_inside && let Some((_, lines)) = found.last_mut() {
            lines.push(format!("{}:{}", file.path, number + 1));
            is_inside = !lower.ends_with("$$;") && !lower.ends_with("end;");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_definition_counts() {
        let file = |name: &str, text: &str| TextFile {
            path: format!("{MIGRATIONS}{name}"),
            text: text.to_owned(),
        };
        let texts = [
            file(
                "1.sql",
                "create function a(x int) returns int language sql as $$\nselect x\n$$;\n",
            ),
            file(
                "2.sql",
                "create or replace function a(x int) returns int language sql as $$\nselect 2\n$$;\n",
            ),
            file("3.sql", "create function b() returns int language sql as $$\nselect 1\n$$;\n"),
        ];

        assert_eq!(superseded(&texts).len(), 3);
    }
}

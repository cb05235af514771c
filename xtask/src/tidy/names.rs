//! Reports type names that a search cannot find.

use super::Finding;
use crate::house::UnsearchableNames;

pub(super) fn check(names: &UnsearchableNames) -> Vec<Finding> {
    let participle = |name: &str| {
        format!("`{name}` is a bare participle: name the object that is in this state")
    };
    let shared = |name: &str| format!("several types are called `{name}`: give each its own name");
    let mut findings = report(&names.participles, participle);
    findings.extend(report(&names.shared, shared));
    findings
}

/// Splits lines like `crates/gate/src/decide.rs:12 Kept` into place and name.
fn report(lines: &[String], what: impl Fn(&str) -> String) -> Vec<Finding> {
    let split = lines.iter().filter_map(|line| line.rsplit_once(' '));
    split.map(|(at, name)| Finding { at: at.to_owned(), what: what(name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::TextFile;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| TextFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let texts: Vec<TextFile> = files.iter().map(file).collect();
        let names = UnsearchableNames::find(&texts).expect("the files are Rust");
        check(&names).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_participle_and_a_shared_name_are_reported_with_their_places() {
        let found = found(&[
            ("crates/a/src/lib.rs", "struct Kept;\nstruct Room;"),
            ("crates/a/src/b.rs", "enum Room { Kitchen }"),
            ("crates/a/src/c.rs", "#[cfg(test)]\nmod tests { struct Told; }"),
        ]);

        assert_eq!(
            found,
            [
                "crates/a/src/lib.rs:1: `Kept` is a bare participle: name the object that is in this state",
                "crates/a/src/lib.rs:2 crates/a/src/b.rs:1: several types are called `Room`: give each its own name",
            ]
        );
    }
}

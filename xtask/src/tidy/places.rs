//! Finds paths of a developer's machine, which must not be in the repository.

use super::Finding;
use crate::repo::TextFile;

/// Prefixes of paths that exist on one machine only. They are written in two parts, so that this file does not match
/// itself.
const PLACES: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("../sha", "red"),
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
];

/// Finds paths of one machine.
pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    lines.flat_map(|(line, text)| check_line(&file.path, line, text)).collect()
}

fn check_line(path: &str, line: usize, text: &str) -> Vec<Finding> {
    let places = PLACES.iter().filter(|place| text.contains(*place));
    let what = |place| format!("`{place}` is a path of one machine");
    places.map(|place| Finding::in_line(path, line, what(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_paths_of_one_machine() {
        let cases = [
            ("a folder of somebody", format!("see {}alice/notes", PLACES[2]), 1),
            ("a folder beside ours", format!("cp {}/a .", PLACES[1]), 1),
            ("a path that everybody has", "/usr/lib/postgresql".to_owned(), 0),
            ("a word like it", ".github/workflows/ci.yml".to_owned(), 0),
        ];
        for (name, text, want) in cases {
            let file = TextFile { path: "a.md".to_owned(), text };
            assert_eq!(check(&file).len(), want, "{name}");
        }
    }
}

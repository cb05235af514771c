//! Checks the page of threats: each number has one row, with a status, links that lead somewhere and tests that exist.

use std::collections::BTreeSet;
use std::fmt;

use super::Finding;
use super::promises::{Row, Tree, check_rows, rows};
use crate::repo::TextFile;

/// The page of threats.
pub(super) const PAGE: &str = "docs/threats.md";

/// Folder of the page, from which its links lead.
const FOLDER: &str = "docs/";

/// The threats have the numbers from 1 to this one.
const THREATS: usize = 64;

const COLUMNS: &str = "needs a threat, a defence, a status and its tests";

const STATUSES: &str = "needs the status `held`, or `waiting:` and what is missing";

/// Result of a threat's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// The defence exists, and a test shows it.
    Held,
    /// Something is missing, which the row names.
    Waiting,
}

impl Status {
    fn parse(cell: &str) -> Option<Self> {
        match cell.split_once(':') {
            None => (cell == "held").then_some(Self::Held),
            Some((word, missing)) => {
                (word == "waiting" && !missing.trim().is_empty()).then_some(Self::Waiting)
            }
        }
    }
}

/// The cells of a threat's row.
struct ThreatCells<'a> {
    defence: &'a str,
    status: &'a str,
}

impl<'a> ThreatCells<'a> {
    fn read(row: &Row<'a>) -> Option<Self> {
        match *row.cells {
            [_, defence, status, _] => Some(Self { defence, status }),
            _ => None,
        }
    }
}

/// Counts of the page, as the figure of `just threats`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ThreatCounts {
    listed: usize,
    held: usize,
    waiting: usize,
}

impl fmt::Display for ThreatCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { listed, held, waiting } = self;
        write!(f, "threats: listed={listed} held={held} waiting={waiting}")
    }
}

/// Counts the listed threats by status.
pub(super) fn count(page: &str) -> ThreatCounts {
    let rows = rows(PAGE, page);
    let numbers: BTreeSet<String> = numbers().collect();
    let listed: BTreeSet<&str> = rows.iter().map(|row| row.number).collect();
    let statuses = rows.iter().filter_map(|row| Status::parse(ThreatCells::read(row)?.status));
    let (held, waiting): (Vec<_>, Vec<_>) = statuses.partition(|status| *status == Status::Held);
    ThreatCounts {
        listed: listed.iter().filter(|number| numbers.contains(**number)).count(),
        held: held.len(),
        waiting: waiting.len(),
    }
}

/// Finds missing and doubled numbers, rows without a status, and names and links that lead nowhere.
pub(super) fn check(texts: &[TextFile], page: &str) -> Vec<Finding> {
    let (rows, tree) = (rows(PAGE, page), Tree::new(texts));
    let listed: BTreeSet<&str> = rows.iter().map(|row| row.number).collect();
    let mut findings: Vec<Finding> = numbers()
        .filter(|number| !listed.contains(&**number))
        .map(|number| Finding::in_file(PAGE, format!("{number} has no row")))
        .collect();
    findings.extend(check_rows(&rows, &tree));
    findings.extend(rows.iter().flat_map(|row| check_cells(row, &tree)));
    findings
}

fn numbers() -> impl Iterator<Item = String> {
    (1..=THREATS).map(|number| format!("T{number:02}"))
}

fn check_cells(row: &Row<'_>, tree: &Tree<'_>) -> Vec<Finding> {
    let Some(ThreatCells { defence, status }) = ThreatCells::read(row) else {
        return vec![row.finding(COLUMNS)];
    };
    let links = links(defence);
    let dead = links.iter().filter(|link| !tree.has_path(&path_of(link)));
    let mut findings: Vec<Finding> =
        dead.map(|link| row.finding(&format!("links to {link}, which does not exist"))).collect();
    match Status::parse(status) {
        None => findings.push(row.finding(STATUSES)),
        Some(Status::Held) => {
            if links.is_empty() {
                findings.push(row.finding("is held, and links to no code"));
            }
            if row.holders().is_empty() {
                findings.push(row.finding("is held, and names no test"));
            }
        }
        Some(Status::Waiting) => {}
    }
    findings
}

/// Returns the targets of the links in a text.
fn links(text: &str) -> Vec<&str> {
    let after = text.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')').map(|(target, _)| target)).collect()
}

/// Returns the path of a link's target from the root.
fn path_of(link: &str) -> String {
    let path = link.split('#').next().unwrap_or(link);
    path.strip_prefix("../").map_or_else(|| format!("{FOLDER}{path}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn tree() -> Vec<TextFile> {
        vec![
            file("justfile", "sim:\n    run\n"),
            file("crates/gate/src/lib.rs", "#[test]\nfn is_refused() {}\n"),
            file("docs/reach.md", "# Reach\n"),
        ]
    }

    /// A page with a good row for each number, in which `change` may replace some.
    fn page(change: impl Fn(&str) -> Option<String>) -> String {
        let good = |number: &str| {
            format!(
                "| {number} | A. | [B](../crates/gate/src/lib.rs). | held | `gate::is_refused` |\n"
            )
        };
        numbers().map(|number| change(&number).unwrap_or_else(|| good(&number))).collect()
    }

    fn found(page: &str) -> Vec<String> {
        check(&tree(), page).iter().map(ToString::to_string).collect()
    }

    fn counts(page: &str) -> String {
        count(page).to_string()
    }

    #[test]
    fn a_page_with_every_threat_is_fine() {
        let page = page(|number| {
            (number == "T64").then(|| "| T64 | A. | B. | waiting: no test | |\n".to_owned())
        });

        assert_eq!(found(&page), [""; 0]);
        assert_eq!(counts(&page), "threats: listed=64 held=63 waiting=1");
    }

    #[test]
    fn a_missing_threat_is_found() {
        let page = page(|number| (number == "T07").then(String::new));

        assert_eq!(found(&page), ["docs/threats.md: T07 has no row"]);
        assert_eq!(counts(&page), "threats: listed=63 held=63 waiting=0");
    }

    #[test]
    fn a_threat_with_two_rows_is_found() {
        let page = page(|number| {
            (number == "T07").then(|| "| T07 | A. | B. | waiting: no test | |\n".repeat(2))
        });

        assert_eq!(found(&page), ["docs/threats.md:8: T07 has two rows"]);
        assert!(counts(&page).starts_with("threats: listed=64 "), "{}", counts(&page));
    }

    #[test]
    fn a_row_has_a_status_and_names_what_exists() {
        let code = "[B](../crates/gate/src/lib.rs)";
        let cases = [
            ("held", format!("{code} | held | `gate::is_refused`"), ""),
            ("a folder", "[B](../crates/gate) | held | `just sim`".to_owned(), ""),
            ("a page beside it", format!("{code}, [C](reach.md#a) | held | `just sim`"), ""),
            ("no test", format!("{code} | held | review"), "is held, and names no test"),
            ("another test", format!("{code} | held | `gate::is_refuse`"), "does not exist"),
            ("no code", "B | held | `just sim`".to_owned(), "is held, and links to no code"),
            ("a dead link", "[B](../crates/gat) | held | `just sim`".to_owned(), "does not exist"),
            ("waiting", "B | waiting: no test | `just sim`".to_owned(), ""),
            ("waiting for nothing", "B | waiting: | `just sim`".to_owned(), STATUSES),
            ("waiting with a lost test", "B | waiting: more | `just si`".to_owned(), "not exist"),
            ("another word", format!("{code} | partly: more | `just sim`"), STATUSES),
            ("no status", format!("{code} | `just sim`"), COLUMNS),
        ];
        for (name, cells, want) in cases {
            let row = format!("| T07 | A. | {cells} |\n");
            let found = found(&page(|number| (number == "T07").then(|| row.clone())));
            let is_right = match &*found {
                [] => want.is_empty(),
                [one] => !want.is_empty() && one.contains(want),
                _ => false,
            };
            assert!(is_right, "{name}: {found:?}");
        }
    }
}

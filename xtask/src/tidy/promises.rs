//! Checks that cited promise numbers have a row in the list, and that each row names existing tests, recipes or files.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::mask::{Masked, is_word};
use super::threats;
use crate::repo::TextFile;

/// The list of promises.
pub(super) const LIST: &str = "docs/promises.md";

const JUSTFILE: &str = "justfile";

/// Numbers that begin with one letter.
struct Kind {
    letter: char,
    /// Minimum digits. With two, a number below ten is written with a zero, because Slack's ids look like `T1`.
    digits_min: usize,
}

const fn kind(letter: char, digits_min: usize) -> Kind {
    Kind { letter, digits_min }
}

const KINDS: [Kind; 9] = [
    kind('P', 1),
    kind('I', 1),
    kind('T', 2),
    kind('F', 2),
    kind('K', 1),
    kind('X', 1),
    kind('Z', 2),
    kind('Q', 1),
    kind('S', 1),
];

const DIGITS_MAX: usize = 2;

/// Extensions of files that cite numbers, besides files without one. Pictures and recorded data also contain letters
/// with digits after them.
const CITING: [&str; 7] = ["rs", "sh", "py", "md", "sql", "toml", "list"];

/// Folders of the project's crates. The empty one is the root.
const CRATE_FOLDERS: [&str; 4] = ["crates/", "platforms/", "testing/", ""];

/// Compares the numbers that files cite, and the tree, with the list. The threats are on a page of their own.
pub(super) fn check(texts: &[TextFile], list: &str, threats: &str) -> Vec<Finding> {
    let (rows, threats) = (rows(LIST, list), rows(threats::PAGE, threats));
    let on_threats: BTreeSet<&str> = threats.iter().map(|row| row.number).collect();
    let mut listed: BTreeSet<&str> = rows.iter().map(|row| row.number).collect();
    listed.extend(&on_threats);
    let mut findings: Vec<Finding> =
        texts.iter().flat_map(|file| citations_without_row(file, &listed)).collect();
    for row in &rows {
        if on_threats.contains(row.number) {
            findings.push(row.finding(&format!("has a row in {}, too", threats::PAGE)));
        }
        if row.holders().is_empty() {
            findings.push(row.finding("names no test, recipe or file"));
        }
    }
    findings.extend(check_rows(&rows, &Tree::new(texts)));
    findings
}

/// Finds numbers with two rows on a page, and named tests, recipes and files that do not exist.
pub(super) fn check_rows(rows: &[Row<'_>], tree: &Tree<'_>) -> Vec<Finding> {
    let (mut findings, mut seen) = (Vec::new(), BTreeSet::new());
    for row in rows {
        if !seen.insert(row.number) {
            findings.push(row.finding("has two rows"));
        }
        let holders = row.holders();
        let missing = holders.iter().filter(|holder| !tree.has(holder));
        findings
            .extend(missing.map(|it| row.finding(&format!("names `{it}`, which does not exist"))));
    }
    findings
}

fn citations_without_row(file: &TextFile, listed: &BTreeSet<&str>) -> Vec<Finding> {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let may_cite = !name.contains('.') || CITING.iter().any(|citing| file.has_extension(citing));
    let lines = file.text.lines().enumerate().filter(|_| may_cite);
    lines
        .flat_map(|(line, text)| numbers(text).map(move |number| (line, number)))
        .filter(|(_, number)| !listed.contains(number))
        .map(|(line, number)| {
            Finding::in_line(&file.path, line, format!("{number} has no row in {LIST}"))
        })
        .collect()
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| is_number(word))
}

fn is_number(word: &str) -> bool {
    let mut chars = word.chars();
    let letter = chars.next();
    let Some(kind) = KINDS.iter().find(|kind| Some(kind.letter) == letter) else { return false };
    let digits = chars.as_str();
    (kind.digits_min..=DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && (kind.digits_min == DIGITS_MAX || !digits.starts_with('0'))
}

/// A row of a page's table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    page: &'static str,
    line: usize,
    pub(super) number: &'a str,
    /// The cells after the number.
    pub(super) cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    pub(super) fn finding(&self, what: &str) -> Finding {
        Finding::in_line(self.page, self.line, format!("{} {what}", self.number))
    }

    /// Returns the tests, recipes and files that the row names: the code marks of the last cell.
    pub(super) fn holders(&self) -> Vec<&'a str> {
        self.cells.last().map_or_else(Vec::new, |last| last.split('`').skip(1).step_by(2).collect())
    }
}

/// Returns the rows of a page's tables that begin with a number.
pub(super) fn rows<'a>(page: &'static str, text: &'a str) -> Vec<Row<'a>> {
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(line, text)| {
            let cells = text.strip_prefix('|')?.trim_end().strip_suffix('|')?;
            let mut cells = cells.split('|').map(str::trim);
            let number = cells.next().filter(|first| is_number(first))?;
            Some(Row { page, line, number, cells: cells.collect() })
        })
        .collect()
}

/// The files and recipes that a row may name.
pub(super) struct Tree<'a> {
    files: BTreeMap<&'a str, &'a str>,
    recipes: BTreeSet<&'a str>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(texts: &'a [TextFile]) -> Self {
        let files: BTreeMap<&str, &str> =
            texts.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        let justfile = files.get(JUSTFILE).copied().unwrap_or_default();
        let recipes = justfile.lines().filter_map(recipe).collect();
        Self { files, recipes }
    }

    /// Returns true if a file or a folder has this path.
    pub(super) fn has_path(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.contains_key(path) || self.files.keys().any(|file| file.starts_with(&folder))
    }

    fn has(&self, holder: &str) -> bool {
        if let Some(call) = holder.strip_prefix("just ") {
            return call.split(' ').next().is_some_and(|name| self.recipes.contains(name));
        }
        if holder.contains('/') {
            return self.files.contains_key(holder);
        }
        let parts: Vec<&str> = holder.split("::").collect();
        let [crate_name, modules @ .., function] = &*parts else { return false };
        let paths = possible_paths(crate_name, modules);
        paths.iter().filter_map(|path| self.files.get(&**path)).any(|text| has_test(text, function))
    }
}

/// Returns the recipe's name at the margin, before parameters and a colon. A setting has `:=` there.
fn recipe(line: &str) -> Option<&str> {
    let (head, rest) = line.split_once(':')?;
    let name = head.split(' ').next()?;
    let is_name = |c: char| is_word(c) || c == '-';
    (!rest.starts_with('=') && !name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Returns the possible files of a test with this path: in the crate's sources, or in its folder of integration tests.
fn possible_paths(crate_name: &str, modules: &[&str]) -> Vec<String> {
    let mut within = vec![match modules {
        [] => "src/lib.rs".to_owned(),
        modules => format!("src/{}.rs", modules.join("/")),
    }];
    if let ["tests", modules @ ..] = modules {
        within.push(format!("tests/{}.rs", modules.join("/")));
    }
    let folders = CRATE_FOLDERS.iter();
    folders
        .flat_map(|folder| within.iter().map(move |path| format!("{folder}{crate_name}/{path}")))
        .collect()
}

/// Returns true if a file has a test function of this name. A function in a `proptest!` block counts.
fn has_test(text: &str, function: &str) -> bool {
    let code = Masked::new(text).code;
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let mut declared = lines.iter().enumerate().filter(|(_, line)| declares(line, function));
    declared.any(|(at, _)| {
        let above = lines[..at].iter().rev();
        let mut attributes = above.take_while(|line| line.is_empty() || line.starts_with("#["));
        attributes.any(|line| *line == "#[test]" || line.starts_with("#[tokio::test"))
    })
}

fn declares(line: &str, function: &str) -> bool {
    let after = line.split_once("fn ").and_then(|(_, rest)| rest.strip_prefix(function));
    after.is_some_and(|rest| !rest.starts_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn row(holders: &str) -> String {
        format!(
            "| Number | Promise | Held by |\n| --- | --- | --- |\n| I1 | No loss. | {holders} |\n"
        )
    }

    fn tree() -> Vec<TextFile> {
        vec![
            file("justfile", "tools := \"x\"\n\n# Prove it.\nchaos-smoke *ARGS: _world\n    run\n"),
            file("testing/judge/src/check/lost.rs", "#[test]\nfn is_found() {}\nfn helps() {}\n"),
            file("crates/api/tests/street/hooks.rs", "#[tokio::test]\nasync fn is_refused() {}\n"),
            file("crates/gate/src/lib.rs", "// #[test]\nfn only_in_a_comment() {}\n"),
            file(
                "crates/wake/src/waits.rs",
                "proptest! {\n    #[test]\n    fn holds(\n        a in 0..9,\n    ) {}\n}",
            ),
        ]
    }

    #[test]
    fn a_number_has_the_form_of_its_kind() {
        let cases = [
            ("I1", true),
            ("I23", true),
            ("T05", true),
            ("P6", true),
            ("T1", false),
            ("F0", false),
            ("I0", false),
            ("X100", false),
            ("C1", false),
            ("Ix", false),
            ("I", false),
            ("", false),
        ];
        for (word, want) in cases {
            assert_eq!(is_number(word), want, "{word}");
        }
    }

    #[test]
    fn a_cited_number_has_a_row() {
        let cases = [
            ("in a comment", "a/src/lib.rs", "// I1: nothing is lost.", 0),
            ("without a row", "a/src/lib.rs", "// I1, I2: nothing is lost.", 1),
            ("in a string", "a/src/lib.rs", "die_at(\"I2\");", 1),
            ("with a count after it", "a/run.sh", "die at I2:17", 1),
            ("in a script", ".ci/run", "break I2", 1),
            ("in prose", "docs/a.md", "I2 and I3 are two.", 2),
            ("in a picture", "a.svg", "M12 3I2 I2", 0),
            ("in recorded data", "a.jsonl", "{\"id\": \"I2\"}", 0),
            ("as part of a word", "a/src/lib.rs", "// AI1 and I1a", 0),
        ];
        for (name, path, text, want) in cases {
            let texts = [file(path, text), file("justfile", "sim:\n")];
            assert_eq!(check(&texts, &row("`just sim`"), "").len(), want, "{name}");
        }
    }

    #[test]
    fn a_row_names_something_that_exists() {
        let cases = [
            ("a recipe", "`just chaos-smoke`", 0),
            ("a recipe with arguments", "`just chaos-smoke --nodes 1`", 0),
            ("no recipe", "`just chaos`", 1),
            ("a setting", "`just tools`", 1),
            ("a unit test", "`judge::check::lost::is_found`", 0),
            ("a function that is no test", "`judge::check::lost::helps`", 1),
            ("a test of another name", "`judge::check::lost::is_foun`", 1),
            ("a test in another file", "`judge::check::is_found`", 1),
            ("an integration test", "`api::tests::street::hooks::is_refused`", 0),
            ("a mark in a comment", "`gate::only_in_a_comment`", 1),
            ("a property", "`wake::waits::holds`", 0),
            ("a file", "`crates/gate/src/lib.rs`", 0),
            ("no file", "`crates/gate/src/gate.rs`", 1),
            ("one word", "`is_found`", 1),
            ("one of two", "`just chaos-smoke`, `just chaos`", 1),
            ("nothing", "review", 1),
        ];
        for (name, holders, want) in cases {
            assert_eq!(check(&tree(), &row(holders), "").len(), want, "{name}");
        }
    }

    #[test]
    fn a_number_has_one_row() {
        let twice = row("`just chaos-smoke`").repeat(2);

        let found = check(&tree(), &twice, "");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["docs/promises.md:6: I1 has two rows"]);
    }

    #[test]
    fn a_threat_has_its_row_on_the_page_of_threats() {
        let texts = [file("a/src/lib.rs", "// T01"), file("justfile", "sim:\n")];
        let page = "| T01 | Forgery. | None. | waiting: no test | `just sim` |\n";
        let found = |list: &str| -> Vec<String> {
            check(&texts, list, page).iter().map(ToString::to_string).collect()
        };

        assert_eq!(found(&row("`just sim`")), [""; 0]);
        assert_eq!(found(page), ["docs/promises.md:1: T01 has a row in docs/threats.md, too"]);
    }

    #[test]
    fn a_finding_says_which_number_and_where() {
        let texts = [file("a/src/lib.rs", "\n// I2\n")];

        let found: Vec<String> = check(&texts, "", "").iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a/src/lib.rs:2: I2 has no row in docs/promises.md"]);
    }
}

//! The difference of two texts, line by line. A pure function.

/// Lines up to which two texts are aligned. The table has a cell for each pair of lines.
const ALIGNED_LINES_MAX: usize = 2_000;

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffLine<'a> {
    /// The line is in both.
    Same(&'a str),
    /// The line is only in the first.
    Removed(&'a str),
    /// The line is only in the second.
    Added(&'a str),
}

impl<'a> DiffLine<'a> {
    /// Returns the class, and the sign for readers that see no colour.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::Removed(_) => "removed",
            Self::Added(_) => "added",
        }
    }

    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Same(_) => " ",
            Self::Removed(_) => "−",
            Self::Added(_) => "+",
        }
    }

    pub(crate) const fn text(self) -> &'a str {
        match self {
            Self::Same(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }
}

/// Returns the lines of both texts, aligned by their longest common sequence. Texts of very many lines are not aligned.
pub(crate) fn diff_lines<'a>(first: &'a str, second: &'a str) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (first.lines().collect(), second.lines().collect());
    if old.len().max(new.len()) > ALIGNED_LINES_MAX {
        let removed = old.into_iter().map(DiffLine::Removed);
        return removed.chain(new.into_iter().map(DiffLine::Added)).collect();
    }
    let table = common_lengths(&old, &new);
    let (mut at, mut to) = (0, 0);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && old[at] == new[to] {
            lines.push(DiffLine::Same(old[at]));
            (at, to) = (at + 1, to + 1);
        } else if at < old.len() && (to == new.len() || table[at + 1][to] >= table[at][to + 1]) {
            lines.push(DiffLine::Removed(old[at]));
            at += 1;
        } else {
            lines.push(DiffLine::Added(new[to]));
            to += 1;
        }
    }
    lines
}

/// Returns the length of the longest common sequence of the rests of both texts, for each pair of beginnings.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u16>> {
    let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            table[at][to] = if old[at] == new[to] {
                table[at + 1][to + 1] + 1
            } else {
                table[at + 1][to].max(table[at][to + 1])
            };
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(first: &str, second: &str) -> String {
        let lines = diff_lines(first, second);
        let lines: Vec<String> =
            lines.iter().map(|line| [line.sign(), line.text()].concat()).collect();
        lines.join("|")
    }

    #[test]
    fn lines_that_changed_are_marked() {
        for (first, second, want) in [
            ("a\nb\nc", "a\nb\nc", " a| b| c"),
            ("a\nb\nc", "a\nx\nc", " a|−b|+x| c"),
            ("a\nb", "a\nb\nc", " a| b|+c"),
            ("a\nb", "b", "−a| b"),
            ("", "a", "+a"),
            ("a", "", "−a"),
        ] {
            assert_eq!(shown(first, second), want, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_very_long_text_is_shown_without_alignment() {
        let long = "x\n".repeat(ALIGNED_LINES_MAX + 1);
        let lines = diff_lines(&long, "x");

        assert_eq!(lines.len(), ALIGNED_LINES_MAX + 2);
        assert_eq!(lines.last(), Some(&DiffLine::Added("x")));
    }
}

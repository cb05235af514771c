//! Parses ranges of numbers in PostgreSQL's format: `{[3,5),[7,9)}`.

/// Half-open ranges: the start is included, the end is not.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    pub(super) fn read(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('{')?.strip_suffix('}')?;
        let mut numbers = inner.split(['[', ',', ')']).filter(|part| !part.is_empty());
        let mut ranges = Vec::new();
        while let Some(from) = numbers.next() {
            ranges.push((from.parse().ok()?, numbers.next()?.parse().ok()?));
        }
        Some(Self(ranges))
    }

    pub(super) fn contains(&self, number: i64) -> bool {
        self.0.iter().any(|(from, to)| (*from..*to).contains(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_postgresql_writes() {
        assert_eq!(Ranges::read("{}"), Some(Ranges(vec![])));
        assert_eq!(Ranges::read("{[3,5),[7,9)}"), Some(Ranges(vec![(3, 5), (7, 9)])));
        assert_eq!(Ranges::read("[3,5)"), None);
        let ranges = Ranges(vec![(3, 5), (7, 9)]);
        let held: Vec<i64> = (0..10).filter(|number| ranges.contains(*number)).collect();
        assert_eq!(held, [3, 4, 7, 8]);
    }
}

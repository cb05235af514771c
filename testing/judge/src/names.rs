//! Stores every text of a history once, under a number.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(u32);

/// The texts of a history.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
}

impl Names {
    /// Returns the number of a text, or assigns a new one.
    pub(crate) fn of(&mut self, text: &str) -> Name {
        if let Some(&name) = self.numbers.get(text) {
            return name;
        }
        let name = Name(number(self.texts.len()));
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, name);
        name
    }

    /// Returns the text of a number.
    pub(crate) fn text(&self, name: Name) -> &str {
        &self.texts[name.index()]
    }
}

impl Name {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A row per name.
#[derive(Debug, Default)]
pub(crate) struct ByName(Vec<u32>);

/// Marks a name without a row.
const NO_ROW: u32 = u32::MAX;

impl ByName {
    /// Returns the row of a name.
    pub(crate) fn get(&self, name: Name) -> Option<usize> {
        self.0.get(name.index()).filter(|&&row| row != NO_ROW).map(|&row| row as usize)
    }

    /// Sets the row of a name.
    pub(crate) fn set(&mut self, name: Name, row: usize) {
        if self.0.len() <= name.index() {
            self.0.resize(name.index() + 1, NO_ROW);
        }
        self.0[name.index()] = number(row);
    }
}

/// Converts a count to four bytes. The reader refuses more records than that, and each record has a handful of names.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NO_ROW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number() {
        let mut names = Names::default();
        let (alice, bob) = (names.of("alice"), names.of("bob"));

        assert_ne!(alice, bob);
        assert_eq!(names.of("alice"), alice);
        assert_eq!(names.text(bob), "bob");
    }

    #[test]
    fn a_name_has_a_row_once_it_was_given_one() {
        let mut names = Names::default();
        let (alice, bob) = (names.of("alice"), names.of("bob"));
        let mut rows = ByName::default();
        rows.set(bob, 7);

        assert_eq!((rows.get(alice), rows.get(bob)), (None, Some(7)));
        assert_eq!(rows.get(names.of("carol")), None);
    }
}

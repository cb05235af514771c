//! Remembers entries that need no second turn.

use std::collections::{HashSet, VecDeque};

/// The newest names of handled entries, up to a limit.
#[derive(Debug)]
pub(super) struct HandledEntries {
    names: HashSet<String>,
    oldest_first: VecDeque<String>,
    kept_max: usize,
}

impl HandledEntries {
    pub(super) fn with_capacity(kept_max: usize) -> Self {
        Self { names: HashSet::new(), oldest_first: VecDeque::new(), kept_max }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn insert(&mut self, name: &str) {
        if !self.names.insert(name.to_owned()) {
            return;
        }
        self.oldest_first.push_back(name.to_owned());
        if self.oldest_first.len() > self.kept_max
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.names.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_name_goes_when_one_too_many_comes() {
        let mut handled = HandledEntries::with_capacity(2);
        for name in ["a", "b", "a", "b"] {
            handled.insert(name);
        }
        assert!(handled.contains("a") && handled.contains("b"), "at the limit");

        handled.insert("c");
        assert!(!handled.contains("a") && handled.contains("b") && handled.contains("c"));
    }
}

//! Counts with a bound.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

/// The count of rows up to a bound: a page does not wait for the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct BoundedCount {
    /// The number of counted rows.
    pub count: u64,
    /// True if there may be more.
    #[serde(rename = "more")]
    pub is_more: bool,
}

impl BoundedCount {
    /// Returns the count of rows, of which at most one more than the bound was read.
    pub fn new(read: i64, bound: i64) -> Self {
        Self { count: read.min(bound).unsigned_abs(), is_more: read > bound }
    }

    /// Adds another count.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, is_more: self.is_more || other.is_more }
    }

    /// Returns true if there is no row.
    pub const fn is_zero(self) -> bool {
        self.count == 0 && !self.is_more
    }
}

impl fmt::Display for BoundedCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, if self.is_more { "+" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_ends_at_its_bound() {
        for (read, want) in [(0, "0"), (98, "98"), (99, "99"), (100, "99+")] {
            assert_eq!(BoundedCount::new(read, 99).to_string(), want);
        }
        let sum = BoundedCount::new(100, 99).plus(BoundedCount::new(1, 99));
        assert_eq!(sum, BoundedCount { count: 100, is_more: true });
        assert!(BoundedCount::default().is_zero() && !sum.is_zero());
    }
}

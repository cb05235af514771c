//! Recognises repeated letters, for connectors without a store of their own.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use nightdesk_types::limits::RECENT_LETTERS_MAX;

/// The receipts of the last letters, by agent and dispatch id.
#[derive(Debug)]
pub(super) struct RecentReceipts<T>(Mutex<ReceiptCache<T>>);

#[derive(Debug)]
struct ReceiptCache<T> {
    receipts: HashMap<(String, String), T>,
    order: VecDeque<(String, String)>,
}

impl<T: Clone> RecentReceipts<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(ReceiptCache { receipts: HashMap::new(), order: VecDeque::new() }))
    }

    /// Returns the receipt of this letter, if it was delivered before.
    pub(super) fn find(&self, agent: &str, dispatch_id: &str) -> Option<T> {
        let cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache.receipts.get(&(agent.to_owned(), dispatch_id.to_owned())).cloned()
    }

    /// Stores the receipt of a letter, in place of the oldest.
    pub(super) fn insert(&self, agent: &str, dispatch_id: &str, receipt: T) {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (agent.to_owned(), dispatch_id.to_owned());
        if cache.receipts.insert(key.clone(), receipt).is_none() {
            cache.order.push_back(key);
        }
        if cache.order.len() > RECENT_LETTERS_MAX
            && let Some(oldest) = cache.order.pop_front()
        {
            cache.receipts.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let recent = RecentReceipts::new();
        for number in 0..=RECENT_LETTERS_MAX {
            recent.insert("perry", &number.to_string(), number);
        }

        assert_eq!(recent.find("perry", "0"), None);
        assert_eq!(recent.find("perry", "1"), Some(1));
        assert_eq!(recent.find("perry", &RECENT_LETTERS_MAX.to_string()), Some(RECENT_LETTERS_MAX));
        assert_eq!(recent.find("other", "1"), None);
    }
}

//! Puts admitted events into the inboxes of their recipients.

use std::time::Instant;

use nightdesk_inbox::PutOutcome;
use nightdesk_types::StoreError;

use super::recent_events::RecentEvent;
use super::{Admission, Inbound, Placements};
use crate::Account;

/// The number of times that an event is decided before the desk gives up because its snapshot keeps changing.
const DECISIONS_MAX: usize = 4;

impl Inbound {
    /// Puts admitted events into inboxes in order: one event, or several of one source. If one cannot be put, none
    /// after it is put.
    pub(crate) async fn place(
        &self,
        account: &Account,
        mut admitted: Vec<Admission<'_>>,
        began: Instant,
    ) -> Result<Placements, StoreError> {
        let mut placements = Placements::default();
        for _ in 0..DECISIONS_MAX {
            let accepts = self.accept_requests(account, &mut admitted).await?;
            let bytes: Vec<usize> = accepts.iter().map(|accept| accept.body().len()).collect();
            let with_bytes = admitted.into_iter().zip(bytes);
            let before = self.recent.history();
            let mut puts = with_bytes.zip(self.inbox.put_in_order(accepts).await);
            let mut stale = Vec::new();
            for ((one, bytes), put) in puts.by_ref() {
                let history = match put? {
                    PutOutcome::Stored(stored) => {
                        self.notify(&one, &stored, began).await;
                        placements.stored += 1;
                        stored.first().map(|entry| entry.incarnation)
                    }
                    // It may have been stored for a request that timed out, so that no node keeps it yet.
                    PutOutcome::Duplicate => {
                        placements.duplicates += 1;
                        before
                    }
                    PutOutcome::Fenced => return Ok(Placements { is_fenced: true, ..placements }),
                    PutOutcome::Stale => {
                        stale.push(one);
                        break;
                    }
                };
                self.admissions.finish_event(account, one.event.verified().get()).await;
                let (account, event) = (account.clone(), one.event.into_verified());
                self.recent.keep(RecentEvent { account, event, bytes, arrived_at: began, history });
            }
            // The events after a stale one are put again together with it.
            stale.extend(puts.map(|((one, _), _)| one));
            if stale.is_empty() {
                return Ok(placements);
            }
            admitted = self.admissions.admit_again(account, stale).await?;
        }
        Err(StoreError::unavailable("put an event", "its recipients change too fast"))
    }
}

//! Determines which people can see a place, from the platform's cached data. The desk queries the platform once for
//! missing data.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use nightdesk_gate::{
    AdmissionRefusal, AdmitError, AdmittedEvent, Decision, EventFacts, Gate, VisibilityLookup,
};
use nightdesk_intake::VerifiedEvent;
use nightdesk_types::event::Source;
use nightdesk_types::limits::{SIGHT_ASKED_MAX, SIGHT_ASKED_WAIT};
use nightdesk_types::{StoreError, Visibility};
use tokio::time::timeout;

use crate::Account;

/// The gate's decision about an event.
pub(crate) type GateDecision = Result<AdmittedEvent, (VerifiedEvent, AdmitError<AdmissionRefusal>)>;

/// One check of the people who can see a place.
pub(crate) struct VisibilityCheck<'a> {
    pub(crate) account: &'a Account,
    gate: &'a Gate,
    place: Source,
    /// The people whose sight of the place is unknown.
    unknown: Mutex<BTreeSet<String>>,
}

impl<'a> VisibilityCheck<'a> {
    /// Creates a check for the place of an event.
    pub(crate) fn new(account: &'a Account, gate: &'a Gate, event: &VerifiedEvent) -> Self {
        Self { account, gate, place: event.get().source().clone(), unknown: Mutex::default() }
    }

    /// Submits an event to the gate. If some people's sight is unknown, queries the platform and submits it again.
    pub(crate) async fn admit(&self, event: VerifiedEvent) -> GateDecision {
        let look = |who: &str| self.look_up(who);
        let decided = self.gate.admit(event, self.visibility_lookup(&look)).await;
        if !self.query_platform().await {
            return decided;
        }
        let event = match decided {
            Ok(admitted) => admitted.into_verified(),
            Err((event, _)) => event,
        };
        self.gate.admit(event, self.visibility_lookup(&look)).await
    }

    /// Submits an event again, because the inbox found the admission stale.
    pub(crate) async fn admit_again(&self, stale: AdmittedEvent) -> GateDecision {
        let look = |who: &str| self.look_up(who);
        self.gate.admit_again(stale, self.visibility_lookup(&look)).await
    }

    /// Returns the gate's decision about another message in the same place, without effect.
    pub(crate) async fn explain(&self, facts: &EventFacts<'_>) -> Result<Decision, StoreError> {
        let look = |who: &str| self.look_up(who);
        self.gate.explain(self.account.bot.id, facts, self.visibility_lookup(&look)).await
    }

    fn visibility_lookup<'f>(
        &self,
        look: &'f (dyn Fn(&str) -> Visibility + Sync),
    ) -> VisibilityLookup<'f> {
        self.account.platform.visibility_source().is_some().then_some(look)
    }

    fn look_up(&self, who: &str) -> Visibility {
        let sight = self.account.visibility(&self.place, who);
        if sight == Visibility::Unknown {
            let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
            unknown.insert(who.to_owned());
        }
        sight
    }

    /// Queries the platform within limits. Returns true if there was a query and it was completed in time.
    async fn query_platform(&self) -> bool {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(eyes) = self.account.platform.visibility_source().filter(|_| !unknown.is_empty())
        else {
            return false;
        };
        let asked = async {
            for who in unknown.iter().take(SIGHT_ASKED_MAX) {
                eyes.fetch_missing(&self.account.bot, &self.place, who).await;
            }
        };
        // After a timeout the first decision stands, and it counts unknown sight as a no.
        timeout(SIGHT_ASKED_WAIT, asked).await.is_ok()
    }
}

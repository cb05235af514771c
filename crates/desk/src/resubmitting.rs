//! Puts parked entries into their inboxes again.

use nightdesk_bus::Ring;
use nightdesk_types::{AgentId, Seq, StoreError, TenantScope};

use crate::Desk;

impl Desk {
    /// Puts a parked entry into its inbox again. The agent's open line gets it at once, and an agent without a line is
    /// called. Returns the new number. `None`: no entry with that number is parked, or it was resubmitted before.
    pub async fn resubmit_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<Option<Seq>, StoreError> {
        let again = self.stops.records.resubmit(scope, agent, seq).await?;
        if let Some(seq) = again {
            self.waking.call(scope, agent);
            self.stops.bell.ring(Ring::Entry { agent, seq }).await;
        }
        Ok(again)
    }
}

//! Letters for later: one-time jobs of the schedule that deliver a letter when it is due.

use nightdesk_letters::{DueDelivery, LetterEntry, Letters, Party};
use nightdesk_schedule::{
    ArmRequest, FireAt, FireClaim, FireEntry, FireOutcome, InboxDelivery, JobId, Policies, Target,
};
use nightdesk_types::{LetterId, Seq, StoreError, Timestamp};

/// Returns the request that makes the schedule deliver a letter. `None`: the id makes no valid job name. Agents cannot
/// use the name of the job.
pub fn arm_request(letter: LetterId, when: Timestamp) -> Option<ArmRequest> {
    Some(ArmRequest {
        job: JobId::new(format!("{}{letter}", JobId::OF_LETTERS)).ok()?,
        fire_at: FireAt::from_timestamp(when),
        to: Target::Inbox(String::new()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    })
}

/// Returns the letter that a fire delivers, and its recipient.
fn scheduled_letter(fire: &FireClaim) -> Option<(LetterId, Party)> {
    let letter = fire.job.as_str().strip_prefix(JobId::OF_LETTERS)?.parse().ok()?;
    Some((letter, Party { scope: fire.scope, agent: fire.agent }))
}

/// Returns the delivery of a fire, if it is that of a letter. If the inbox is full, the fire is retried like any other.
pub(crate) async fn deliver_fire(
    letters: &Letters,
    fire: &FireClaim,
) -> Option<Result<InboxDelivery, StoreError>> {
    let (letter, to) = scheduled_letter(fire)?;
    Some(letters.deliver_due(to, letter).await.map(inbox_delivery))
}

fn inbox_delivery(delivery: DueDelivery) -> InboxDelivery {
    match delivery {
        DueDelivery::Inbox(LetterEntry { bot, chat_id, body }) => {
            InboxDelivery::Put(FireEntry { bot, chat_id, body })
        }
        DueDelivery::Delivered(way) => {
            InboxDelivery::Came(FireOutcome::Taken(format!("delivered by {}", way.slug())))
        }
        DueDelivery::Retry(reason) => InboxDelivery::Came(FireOutcome::Again(reason, None)),
        DueDelivery::Refused(reason) => InboxDelivery::Came(FireOutcome::Refused(reason)),
    }
}

/// Records the inbox number of a letter that a fire put. If this fails, only the view of the letter lacks it.
pub(crate) async fn record_seq(letters: &Letters, fire: &FireClaim, seq: Seq) {
    let Some((letter, to)) = scheduled_letter(fire) else { return };
    if let Err(error) = letters.store.record_delivery(to, letter, Some(seq)).await {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "could not store the inbox number of a letter");
    }
}

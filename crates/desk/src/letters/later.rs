//! Letters for later: one-time jobs of the schedule that put a letter when it is due.

use std::sync::Arc;

use nightdesk_courier::{Due, LetterEntry, Party};
use nightdesk_schedule::{
    Arm, ArmError, Claimed, FireAt, FireEntry, JobId, Outcome, Policies, Target, Telling,
};
use nightdesk_types::{LetterId, Seq, StoreError, Timestamp};

use super::{LetterContext, ways};

/// Returns the job that puts a letter. Agents cannot use its name.
fn job_of(letter: LetterId) -> Option<JobId> {
    JobId::new(format!("{}{letter}", JobId::OF_LETTERS)).ok()
}

/// Returns the letter that a job puts.
fn letter_of(job: &JobId) -> Option<LetterId> {
    job.as_str().strip_prefix(JobId::OF_LETTERS)?.parse().ok()
}

/// Returns the request that makes the schedule put a letter. `None`: the id makes no valid job name.
pub fn arming(letter: LetterId, when: Timestamp) -> Option<Arm> {
    Some(Arm {
        job: job_of(letter)?,
        fire_at: FireAt::at(when),
        to: Target::Inbox(String::new()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    })
}

/// Schedules a letter. Repeated calls change nothing.
pub(super) async fn arm(
    desk: &Arc<LetterContext>,
    to: Party,
    letter: LetterId,
    when: Timestamp,
) -> Result<(), ArmError> {
    let Some(arm) = arming(letter, when) else { return Ok(()) };
    desk.schedule.arm(to.scope, to.agent, &arm).await.map(drop)
}

/// Returns the delivery of a fire, if it is that of a letter. If the inbox is full, the fire is retried like any other.
pub(crate) async fn telling_of(
    desk: &LetterContext,
    fire: &Claimed,
) -> Option<Result<Telling, StoreError>> {
    let (letter, to) = (letter_of(&fire.job)?, Party { scope: fire.scope, agent: fire.agent });
    Some(telling(desk, to, letter).await)
}

async fn telling(desk: &LetterContext, to: Party, letter: LetterId) -> Result<Telling, StoreError> {
    let Some(due) = desk.courier.store.due(to, letter).await? else {
        let refused = Outcome::Refused("the letter may not be handed over any more".to_owned());
        return Ok(Telling::Came(refused));
    };
    if let Some(outlet) = desk.courier.ways.of(to) {
        return ways::hand_over(desk, outlet, to, letter, &due).await.map(Telling::Came);
    }
    let Due { entry: LetterEntry { bot, chat_id, body }, is_full, .. } = due;
    if is_full {
        return Ok(Telling::Came(Outcome::Again("the inbox is full".to_owned(), None)));
    }
    Ok(Telling::Put(FireEntry { bot, chat_id, body }))
}

/// Records the inbox number of a letter that was put for a fire. If this fails, only the view of the letter lacks it.
pub(crate) async fn lies_at(desk: &LetterContext, fire: &Claimed, seq: Seq) {
    let Some(letter) = letter_of(&fire.job) else { return };
    let to = Party { scope: fire.scope, agent: fire.agent };
    if let Err(error) = desk.courier.store.came(to, letter, Some(seq)).await {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "it is not written down where a letter lies");
    }
}

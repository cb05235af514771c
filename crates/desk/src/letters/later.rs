//! Letters for later: one-shots of the schedule that put a letter when it is due.

use std::sync::Arc;

use nightdesk_courier::{Due, LetterEntry, Party};
use nightdesk_schedule::{
    Arm, ArmError, Claimed, FireAt, FireEntry, JobId, Outcome, Policies, Target, Telling,
};
use nightdesk_types::{LetterId, Seq, StoreError, Timestamp};

use super::ways;
use crate::Desk;

/// The job that puts a letter. Agents cannot name one so.
fn job_of(letter: LetterId) -> Option<JobId> {
    JobId::new(format!("{}{letter}", JobId::OF_LETTERS)).ok()
}

/// The letter that a job puts.
fn letter_of(job: &JobId) -> Option<LetterId> {
    job.as_str().strip_prefix(JobId::OF_LETTERS)?.parse().ok()
}

/// By what the schedule has a letter put. `None`: no letter has such an id.
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

/// Has a letter put when it is due. Asked again, nothing changes.
pub(super) async fn arm(
    desk: &Arc<Desk>,
    to: Party,
    letter: LetterId,
    when: Timestamp,
) -> Result<(), ArmError> {
    let Some(arm) = arming(letter, when) else { return Ok(()) };
    desk.schedule.arm(to.scope, to.agent, &arm).await.map(drop)
}

/// How an agent is told of a fire, if it is that of a letter. Where there is no room for it, it is tried again as any fire is.
pub(crate) async fn telling_of(desk: &Desk, fire: &Claimed) -> Option<Result<Telling, StoreError>> {
    let (letter, to) = (letter_of(&fire.job)?, Party { scope: fire.scope, agent: fire.agent });
    Some(telling(desk, to, letter).await)
}

async fn telling(desk: &Desk, to: Party, letter: LetterId) -> Result<Telling, StoreError> {
    let Some(due) = desk.courier.store.due(to, letter).await? else {
        let refused = Outcome::Refused("the letter may not be handed over any more".to_owned());
        return Ok(Telling::Came(refused));
    };
    if let Some(outlet) = desk.courier.ways.of(to) {
        return ways::hand_over(desk, outlet, (to, letter), &due).await.map(Telling::Came);
    }
    let Due { entry: LetterEntry { bot, chat_id, body }, is_full, .. } = due;
    if is_full {
        return Ok(Telling::Came(Outcome::Again("the inbox is full".to_owned(), None)));
    }
    Ok(Telling::Put(FireEntry { bot, chat_id, body }))
}

/// Notes where a letter lies that was put for a fire. That it is not noted costs no more than who looks at it.
pub(crate) async fn lies_at(desk: &Desk, fire: &Claimed, seq: Seq) {
    let Some(letter) = letter_of(&fire.job) else { return };
    let to = Party { scope: fire.scope, agent: fire.agent };
    if let Err(error) = desk.courier.store.came(to, letter, Some(seq)).await {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "it is not written down where a letter lies");
    }
}

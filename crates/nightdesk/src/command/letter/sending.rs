//! Stores a letter for the desk, which runs in another process and delivers it.
//!
//! This process cannot ring the bell. So the letter is due now, and the scheduler, which polls for due jobs, delivers
//! it and rings on the node that has the agent's line.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nightdesk_desk::letters::arm_request;
use nightdesk_letters::{
    Letter, LetterState, LetterStore, LetterText, NewLetter, Party, PayloadKind, Posting,
    PostingOutcome, Route, build_entry, new_id,
};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{
    EXCHANGE_WAIT_MAX, LETTER_BYTES_MAX, LETTER_PUT_LOOKED_EVERY, LETTER_PUT_WAIT,
    REPLY_LOOKED_EVERY,
};
use nightdesk_types::{Actor, Clock, LetterId, SystemClock, Timestamp};
use tokio::time::{Instant, sleep};

use super::output;
use crate::ui::CommandOutput;

/// Returns a letter that the desk is to deliver now.
pub(super) fn letter(
    from: Party,
    to: Party,
    wait: Option<Duration>,
    dispatch_id: Option<String>,
) -> anyhow::Result<NewLetter> {
    ensure!(
        wait.is_none_or(|wait| wait <= EXCHANGE_WAIT_MAX),
        "--wait must be at most {}s",
        EXCHANGE_WAIT_MAX.as_secs()
    );
    let dispatch_id = dispatch_id.unwrap_or_else(new_id);
    Ok(NewLetter {
        id: new_id().parse().context("could not create an id")?,
        from,
        to,
        correlation_id: wait.map(|_| dispatch_id.clone()),
        dispatch_id,
        route: Route::Deliver,
        kind: PayloadKind::Augment,
        session: None,
        when: Some(SystemClock::start().now()),
        wait,
        by_outlet: false,
    })
}

/// Stores a letter and waits until the desk delivered it, and for the reply if one is wanted.
pub(super) async fn send(
    pg: &Pg,
    letter: &NewLetter,
    from: &str,
    words: &str,
) -> anyhow::Result<CommandOutput> {
    ensure!(words.len() <= LETTER_BYTES_MAX, "a letter has at most {LETTER_BYTES_MAX} bytes");
    let text = LetterText { from, words, event_type: None, origin: None };
    let entry = build_entry(letter, text);
    let entry = entry.context("the letter has a text that clients cannot read; change the text")?;
    let posting = Posting { letter: letter.clone(), entry };
    let outcome =
        pg.put(&[posting]).await?.pop().context("the store returned no outcome for the letter")?;
    let id = match outcome {
        PostingOutcome::Stored { .. } | PostingOutcome::Scheduled | PostingOutcome::Noted => {
            letter.id
        }
        PostingOutcome::Duplicate(before) => before.id,
        PostingOutcome::Unknown => {
            bail!("there is no such agent; `nightdesk agent list` shows them")
        }
        PostingOutcome::NotGranted => {
            bail!("letters between tenants need `nightdesk grant letters` in both")
        }
        PostingOutcome::TooManyHops => bail!("the chain of replies is too long; wait five minutes"),
        PostingOutcome::Full => bail!(
            "the agent's inbox is full; `nightdesk inbox list` shows it, and `nightdesk \
             tenant quota` raises the limit"
        ),
    };
    let found = put(pg, letter, id).await?;
    let found = if found.reply_by.is_some() {
        wait_until_settled(pg, letter.from, id).await?
    } else {
        found
    };
    Ok(CommandOutput::One(output::letter(&found)))
}

/// Has the desk deliver a letter that is not delivered yet, and waits briefly for it.
async fn put(pg: &Pg, letter: &NewLetter, id: LetterId) -> anyhow::Result<Letter> {
    let mut found = read_letter(pg, letter.from, id).await?;
    if found.state == LetterState::Scheduled {
        arm(pg, letter.to, id, found.due_at.unwrap_or(found.sent_at)).await?;
    }
    let until = Instant::now() + LETTER_PUT_WAIT;
    while found.state == LetterState::Scheduled && Instant::now() < until {
        sleep(LETTER_PUT_LOOKED_EVERY).await;
        found = read_letter(pg, letter.from, id).await?;
    }
    Ok(found)
}

/// Arms the job that delivers a letter. The send is audited; the job is the desk's own action.
async fn arm(pg: &Pg, to: Party, id: LetterId, when: Timestamp) -> anyhow::Result<()> {
    let arm = arm_request(id, when).context("could not derive a job from the letter")?;
    let scope = to.scope.with_actor(Actor::Desk);
    nightdesk_schedule::Store::arm(pg, scope, to.agent, &arm).await?;
    Ok(())
}

/// Waits until a letter expects no reply any more, and returns it.
async fn wait_until_settled(pg: &Pg, from: Party, id: LetterId) -> anyhow::Result<Letter> {
    loop {
        let found = read_letter(pg, from, id).await?;
        let is_over = matches!(found.state, LetterState::Replied | LetterState::TimedOut);
        let waits = found.state == LetterState::Put
            || found.reply_by.is_some_and(|by| SystemClock::start().now() < by);
        if is_over || !waits {
            return Ok(found);
        }
        sleep(REPLY_LOOKED_EVERY).await;
    }
}

async fn read_letter(pg: &Pg, from: Party, id: LetterId) -> anyhow::Result<Letter> {
    pg.letter(from, id).await?.context("the letter was deleted in the meantime")
}

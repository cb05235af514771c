//! Promises of the store of wakes.

use std::time::Duration;

use nightdesk_types::StoreError;
use nightdesk_types::limits::WAKE_DEADLINE;
use nightdesk_wake::{WakeClaim, WakeSelection, WakeStatus, WakeStep, WakeTerms};

use super::Harness;
use super::cast::{Cast, Line, Person};

mod due;
mod kept;

pub use due::{
    a_dead_node_ends_its_lines, a_line_that_ended_with_nothing_waiting_wakes_nobody,
    a_parting_has_its_grace, a_posted_line_is_resumed_at_once, a_resubmitted_entry_wakes,
    a_step_of_the_clock_ends_no_line, a_suspect_line_has_its_agent_called, a_test_entry_wakes,
    an_entry_for_a_sleeper_makes_a_wake_due, an_entry_over_its_authors_limit_wakes_no_agent,
    an_entry_soon_after_a_parting_waits_for_the_grace, who_has_a_line_is_not_called,
};
pub use kept::{
    a_call_that_is_put_off_does_not_count, a_delay_is_claimed_until_it_is_told,
    a_person_may_ask_for_a_call, a_webhook_is_a_way_to_wake, an_agent_that_dialled_in_is_woken,
    calls_lie_apart_whatever_happens, claims_at_once_share_the_work, nobody_is_called_too_often,
    nobody_sees_another_tenants_wakes, one_agents_claims_at_once_make_one_call,
    waiting_entries_are_counted_up_to_a_bound, what_nobody_needs_any_more_is_put_away,
    who_cannot_be_called_is_left_until_somebody_can, who_cannot_be_woken_is_given_up_and_told,
    who_is_woken_too_often_is_held,
};

const URL: &str = "https://agents.example/wake";

const TERMS: WakeTerms =
    WakeTerms { has_command: false, wakes_per_hour: 60, still_waking_after: WAKE_DEADLINE };

/// A span that every store's clock can measure.
const LITTLE: Duration = Duration::from_secs(2);

/// Creates a person whose agent has a wake URL.
async fn callable(cast: &Cast<'_>, name: &str) -> Person {
    let person = cast.person(name).await;
    let urls = [URL.to_owned()];
    let set = cast.harness.wakers().set_wake_urls(person.scope, person.agent, &urls).await;
    set.expect("say where an agent is called");
    person
}

/// Opens a line on a live node.
async fn line(cast: &Cast<'_>, person: &Person) -> Line {
    cast.line(person).await
}

/// A lease that no test outlasts.
const LIFE: Duration = Duration::from_hours(24 * 365);

/// Starts the node on which the cast opens its lines.
async fn begin_node(cast: &Cast<'_>) {
    cast.harness.lease().begin("node-1", LIFE).await.expect("a node begins");
}

async fn claims(harness: &dyn Harness, terms: &WakeTerms) -> Result<Vec<WakeClaim>, StoreError> {
    harness.wake().claim(WakeSelection::Due(100), terms).await
}

/// Claims all wakes that are due.
async fn claimed(harness: &dyn Harness) -> Vec<WakeClaim> {
    claims(harness, &TERMS).await.expect("claim wakes")
}

/// Claims the only wake that is due, which must be a call.
async fn called(harness: &dyn Harness) -> WakeClaim {
    let mut all = claimed(harness).await;
    assert_eq!(all.len(), 1, "one is to be called: {all:?}");
    let one = all.swap_remove(0);
    assert_eq!(one.step, WakeStep::Call, "{one:?}");
    one
}

async fn state(cast: &Cast<'_>, person: &Person) -> Option<WakeStatus> {
    let status = cast.harness.wakers().status(person.scope, Some(person.agent), "").await;
    status.expect("look at wakes").pop().expect("there is the agent").wake
}

async fn phase(cast: &Cast<'_>, person: &Person) -> String {
    state(cast, person).await.map_or_else(|| "none".to_owned(), |state| state.state)
}

/// Has the agent dial in, ack all entries up to this number, and go idle.
async fn wakes_up(cast: &Cast<'_>, person: &Person, up_to: i64) {
    let awake = line(cast, person).await;
    cast.ack(&awake, &[(1, up_to)]).await;
    cast.goes_idle(&awake).await;
}

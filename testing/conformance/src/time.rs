//! Checks the promises of the stores over time.

use std::time::Duration;

use nightdesk_egress::SendState;
use nightdesk_gate::BotMessage;
use nightdesk_gate::BotPrompt;
use nightdesk_inbox::{ParkReason, PutOutcome};
use nightdesk_register::enrolment::{EnrolmentRefusal, EnrolmentResult};
use nightdesk_register::issuer::RefreshResult;
use nightdesk_register::provision::ProvisionResult;
use nightdesk_types::limits::{
    ACKED_HOURS, CHAT_KEPT_DAYS, DEDUPE_DAYS, PARKED_DAYS, PENDING_DAYS, PROMPT_DAYS, REACHED_DAYS,
    REFRESH_OVERLAP, SEND_HOURS,
};
use nightdesk_types::{Quota, Seq};
use nightdesk_webchat::store::{ChatUpdate, VisitorMessage};

pub use super::rotation::whatever_is_rotated_ends_when_it_was_said_to;

use super::TimedHarness;
use super::cast::{Cast, secret};
use super::egress::{Sends, ask, claim, delivered, settle};
use super::gate::reaches;
use super::register::{
    begin, boot, enrol, expired, invite, provision, refresh, refresh_result, revoke,
    revoked_lately, rotate,
};
use super::upkeep::keep;
use super::webchat;

const MINUTE: Duration = Duration::from_mins(1);

const fn hours(hours: i32) -> Duration {
    Duration::from_hours(hours.unsigned_abs() as u64)
}

const fn days(days: i32) -> Duration {
    hours(days * 24)
}

const fn almost(span: Duration) -> Duration {
    span.saturating_sub(MINUTE)
}

/// Checks that an event's key is stored for the stated number of days, and is new afterwards.
pub async fn an_event_is_remembered_for_days(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;

    harness.let_pass(days(DEDUPE_DAYS)).await;
    keep(harness).await;
    assert_eq!(cast.put(&ann.says(1)).await, PutOutcome::Duplicate);
    harness.let_pass(days(1)).await;
    assert_eq!(cast.stored(&ann.says(1)).await.seq, Seq::new(2));
    assert_eq!(cast.put(&ann.says(1)).await, PutOutcome::Duplicate, "and is remembered again");
}

/// Checks that the agent of a prompt is stored for the stated number of days.
pub async fn who_asked_is_remembered_for_days(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, gate) = (cast.person("ann").await, harness.gate());
    let prompt = BotPrompt { bot: cast.bot.id, id: "a1b2c3.01234567" };
    assert!(gate.record_prompt(ann.scope, ann.agent, prompt).await.expect("ask"));

    harness.let_pass(almost(days(PROMPT_DAYS))).await;
    keep(harness).await;
    let asker = gate.find_prompt_agent(prompt).await.expect("find who asked");
    assert_eq!(asker, Some((ann.scope, ann.agent)));
    harness.let_pass(MINUTE * 2).await;
    keep(harness).await;
    assert_eq!(gate.find_prompt_agent(prompt).await.expect("find who asked"), None);
}

/// Checks that a parked entry is stored for the stated number of days and no longer.
pub async fn a_parked_entry_is_kept_for_days(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let quota = harness.register().set_quota(ann.scope, Quota::PendingEntries, 1).await;
    quota.expect("set a quota");
    cast.stored(&ann.says(1)).await;
    assert!(cast.stored(&ann.says(2)).await.parked);
    let full = (Seq::new(2), ParkReason::Full);

    harness.let_pass(almost(days(PARKED_DAYS))).await;
    keep(harness).await;
    assert!(harness.parked(ann.scope, ann.agent).await.contains(&full));
    harness.let_pass(MINUTE * 2).await;
    keep(harness).await;
    assert!(!harness.parked(ann.scope, ann.agent).await.contains(&full));
}

/// Checks that an entry lets its agent write to its chat for the stated number of days, which begin anew with each
/// entry.
pub async fn a_chat_is_reached_for_days(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;
    harness.let_pass(days(2)).await;
    cast.stored(&ann.says(2)).await;

    harness.let_pass(almost(days(REACHED_DAYS))).await;
    assert_eq!(reaches(&cast, &ann, "c1").await.len(), 1, "it heard from there two days later");
    harness.let_pass(MINUTE * 2).await;
    assert_eq!(reaches(&cast, &ann, "c1").await, []);
}

/// Checks that the access to a chat outlives the entry it came from.
pub async fn a_reach_outlives_its_entry(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;

    harness.let_pass(days(PENDING_DAYS + 2)).await;
    keep(harness).await;
    assert_eq!(reaches(&cast, &ann, "c1").await.len(), 1);
}

/// Checks that the time since the desk's restart is reported correctly.
pub async fn a_restart_lies_back(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let line = cast.line(&ann).await;
    cast.restart(&line).await;
    harness.let_pass(MINUTE).await;

    let ago = cast.line(&ann).await.taken.restarted_ago.expect("it did");
    assert!((MINUTE..MINUTE * 2).contains(&ago), "{ago:?}");
}

/// Checks that an old secret is valid until the overlap is over, and that a later rotation extends nothing.
pub async fn an_old_secret_ends_with_the_overlap(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    rotate(harness, &ann, "new", MINUTE * 10).await;
    harness.let_pass(MINUTE * 5).await;
    assert_eq!(expired(harness).await, [("ann", false), ("new", false)]);
    rotate(harness, &ann, "newest", MINUTE * 60).await;

    harness.let_pass(MINUTE * 6).await;
    assert_eq!(expired(harness).await, [("ann", true), ("new", false), ("newest", false)]);
    harness.let_pass(MINUTE * 60).await;
    assert_eq!(expired(harness).await, [("ann", true), ("new", true), ("newest", false)]);
}

/// Checks that a revocation is found within the requested time, counted from the first one.
pub async fn a_revocation_lies_back(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    revoke(harness, &ann).await;
    harness.let_pass(MINUTE * 59).await;
    assert_eq!(revoked_lately(harness).await, [ann.gateway]);

    revoke(harness, &ann).await;
    harness.let_pass(MINUTE * 2).await;
    assert_eq!(revoked_lately(harness).await, []);
}

/// Checks that a send is stored for the stated number of hours, and an unsettled one longer.
pub async fn a_settled_send_is_forgotten(harness: &impl TimedHarness) {
    let sends = Sends::of(harness).await;
    let (settled, key) = sends.ask("r1").await;
    let (open, _) = sends.ask("r2").await;
    let owner = sends.owner("node-1").await;
    claim(harness, &key, &owner).await;
    settle(harness, &key, &owner.node, &delivered()).await;
    harness.let_pass(almost(hours(SEND_HOURS))).await;
    keep(harness).await;
    assert_eq!(ask(harness, &settled).await, SendState::Settled(delivered()));
    let (bot, chat) = (sends.cast.bot.id, "c1".to_owned());
    let message = BotMessage { bot, chat, id: "m1".to_owned() };
    let sender =
        async || harness.gate().find_message_sender(&message).await.expect("find a sender");
    assert_eq!(sender().await, Some((sends.ann.scope, sends.ann.agent)));

    harness.let_pass(MINUTE * 2).await;
    keep(harness).await;
    assert_eq!(sender().await, None);
    assert_eq!(ask(harness, &settled).await, SendState::New);
    assert_eq!(ask(harness, &open).await, SendState::UnderWay);
}

/// Checks that an entry without an ack for the stated number of days is parked as expired, and that the inbox moves on.
pub async fn what_nobody_took_expires(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(2, 2)]).await;
    harness.let_pass(almost(days(PENDING_DAYS))).await;
    cast.stored(&ann.says(4)).await;
    assert_eq!(keep(harness).await.expired, 0);

    harness.let_pass(MINUTE * 2).await;
    assert_eq!(keep(harness).await.expired, 2);
    assert_eq!(keep(harness).await.expired, 0, "once");
    let aside = harness.parked(ann.scope, ann.agent).await;
    assert_eq!(aside, [1, 3].map(|number| (Seq::new(number), ParkReason::Expired)));
    let line = cast.line(&ann).await;
    assert_eq!((line.taken.acked, cast.numbers(&line).await), (Seq::new(3), vec![4]));
    let again = harness.aside().resubmit(ann.scope, ann.agent, Seq::new(1)).await;
    assert!(again.expect("resubmit an entry").is_some(), "it can be had again");
}

/// Checks that an acked entry is removed after the stated number of hours, and stays acked.
pub async fn what_was_acked_is_forgotten(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 4).await;
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1), (3, 3)]).await;
    harness.let_pass(almost(hours(ACKED_HOURS))).await;
    assert_eq!(keep(harness).await.forgotten, 0);

    harness.let_pass(MINUTE * 2).await;
    assert_eq!(keep(harness).await.forgotten, 2);
    assert_eq!(keep(harness).await.forgotten, 0, "once");
    let line = cast.line(&ann).await;
    assert_eq!((line.taken.acked, cast.numbers(&line).await), (Seq::new(1), vec![2, 4]));
    assert_eq!(cast.stored(&ann.says(5)).await.seq, Seq::new(5));
}

/// Checks that an invitation ends: its identity is not live any more, and its token is refused as too late.
pub async fn an_invitation_ends(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let client = invite(harness, &ann, "one", None).await;
    harness.let_pass(Duration::from_secs(61)).await;

    let found = harness.register().client(client.id).await.expect("find a client");
    assert!(found.is_some_and(|found| !found.live));
    let late = enrol(harness, &client, "one", "gw").await;
    assert_eq!(late, EnrolmentResult::Refused(EnrolmentRefusal::Expired));
}

/// Checks that a line of a page that is too old is removed, and so is a chat without any content.
pub async fn an_old_chat_is_forgotten(harness: &impl TimedHarness) {
    let (store, chat) = (harness.webchat(), webchat::chat(harness, "op", "ann").await);
    let now = VisitorMessage { at: harness.now(), ..webchat::said("n1", 0) };
    store.write_visitor_message(&chat, &now).await.expect("write what was said");
    store.set_status(&chat, Some("typing…")).await.expect("show a status");
    harness.let_pass(days(CHAT_KEPT_DAYS - 1)).await;
    assert_eq!(store.delete_old().await.expect("forget"), 0, "a day is left");
    let stood = store.latest_lines(&chat, 1).await.expect("read").status.expect("a status").stood;
    assert!(stood >= days(CHAT_KEPT_DAYS - 1), "{stood:?}");

    harness.let_pass(days(2)).await;
    assert_eq!(store.delete_old().await.expect("forget"), 1);
    assert_eq!(store.latest_lines(&chat, 1).await.expect("read"), ChatUpdate::default());
}

/// Checks that a boot's secret is returned again for the stated time, and ends with the overlap of the next: old or new
/// until then, and only new after.
pub async fn a_boots_secret_is_given_again_for_a_while(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let asks = async |called: &str| {
        let given = provision(harness, &ann, &boot("gw", "discord", called)).await;
        matches!(given, ProvisionResult::New(_))
    };
    let expired = async || {
        let found = harness.register().gateways_named("gw").await.expect("find a gateway");
        found.iter().filter(|one| one.expired).count()
    };
    let second = Duration::from_secs(1);

    assert!(asks("one").await);
    harness.let_pass(MINUTE.saturating_sub(second)).await;
    assert!(!asks("two").await, "just before");
    harness.let_pass(second * 2).await;
    assert!(asks("three").await, "past it");
    harness.let_pass(MINUTE.saturating_sub(second)).await;
    assert_eq!(expired().await, 0, "both are good");
    harness.let_pass(second * 2).await;
    assert_eq!(expired().await, 1, "the new one alone is");
}

/// Checks that a traded refresh token gets its successor a little longer. A later use means that a second party has it, and ends
/// the session.
pub async fn a_refresh_token_shown_late_ends_its_session(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    begin(harness, &ann, "s", "one").await;
    harness.let_pass(days(40)).await;
    let two = refresh_result(&ann, "two");
    assert_eq!(refresh(harness, &ann, "one", "two").await, two, "a long sleeper's is good");

    harness.let_pass(REFRESH_OVERLAP.saturating_sub(Duration::from_secs(5))).await;
    assert_eq!(refresh(harness, &ann, "one", "three").await, two, "within the overlap");
    harness.let_pass(Duration::from_secs(10)).await;
    assert_eq!(refresh(harness, &ann, "one", "four").await, RefreshResult::Reused);
    assert_eq!(refresh(harness, &ann, "two", "five").await, RefreshResult::Unknown, "it is over");
}

/// Checks that a boot under the name of an operator's gateway never ends the operator's secret: its holder would not
/// ask again.
pub async fn a_pinned_secret_outlives_every_boot(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    for called in ["one", "two", "three"] {
        provision(harness, &ann, &boot("ann", "discord", called)).await;
        harness.let_pass(MINUTE * 2).await;
    }

    let found = harness.register().gateways_named("ann").await.expect("find a gateway");
    let good: Vec<_> = found.iter().filter(|one| !one.expired).map(|one| one.secret_id).collect();
    assert_eq!(good.len(), 2, "the operator's and the newest");
    assert!(good.contains(&secret("ann").id));
}

//! The cases that the contract's text requires and its own suite lacks.

use std::time::{Duration, Instant};

use nightdesk_letters::{AgentConnector, ConnectorError};
use nightdesk_protocol::delivery::{
    DeliveryReceipt, Millis, PayloadKind, TriggerKind, WakeOpts, WakeReceipt, When,
};

use super::{Report, Seen, Stage, Verdict, augment, meta, must, times, word};

/// Number of list calls, and the time limit for all of them.
const LISTED: usize = 100;
const LISTED_WITHIN: Duration = Duration::from_secs(2);

/// A time in the year 2096.
const LATER: Millis = Millis(4_000_000_000_000);

pub(super) async fn check<S: Stage>(stage: &S, report: &mut Report) {
    report.case("receipts_come_back_as_they_went", receipts());
    report.case("listing_is_cheap_and_changes_nothing", listing(stage).await);
    let Some(agent) = stage.agent() else { return };
    letters(stage, &agent, report).await;
    wakes(stage, &agent, report).await;
    report.case("a_wake_shows_the_same_proofs", proofs(stage).await);
    report.case("what_is_not_set_is_left_out", omitted(stage).await);
}

async fn letters<S: Stage>(stage: &S, agent: &str, report: &mut Report) {
    report.case("deliver_hands_the_content_over", content(stage, agent).await);
    report.case("deliver_hands_a_template_over_as_one", template(stage, agent).await);
    report.case("empty_content_is_delivered", empty(stage, agent).await);
    report.case("unknown_agents_fail", unknown(stage).await);
    report.case("what_is_broken_fails", broken(stage, agent).await);
    report.case("one_dispatch_id_is_one_message", once(stage, agent).await);
    report.case("any_trigger_kind_is_taken", trigger(stage, agent).await);
}

async fn wakes<S: Stage>(stage: &S, agent: &str, report: &mut Report) {
    report.case("wake_hands_its_context_over", context(stage, agent).await);
    report.case("wake_by_a_composite_address_reaches_the_agent", composite(stage, agent).await);
    report.case("woken_is_honest", honest(stage, agent).await);
    report.case("session_id_beats_the_suffix", session(stage, agent).await);
    report.case("a_wake_for_later_is_not_said_to_be_done", later(stage, agent).await);
}

fn waking(words: &str) -> WakeOpts {
    WakeOpts { context: Some(words.to_owned()), ..WakeOpts::default() }
}

fn receipts() -> Verdict {
    let delivered = DeliveryReceipt {
        delivered_at: LATER,
        delivery_id: Some("d".to_owned()),
        session_id: Some("s".to_owned()),
        delivery_skipped: true,
        warnings: vec!["w".to_owned()],
    };
    let woken = WakeReceipt {
        woken_at: LATER,
        woken: true,
        session_id: delivered.session_id.clone(),
        warnings: delivered.warnings.clone(),
    };
    let same = |text: Result<String, serde_json::Error>| text.map_err(|error| error.to_string());
    let d = same(serde_json::to_string(&delivered))?;
    let w = same(serde_json::to_string(&woken))?;
    must(serde_json::from_str::<DeliveryReceipt>(&d).ok() == Some(delivered), d)?;
    must(serde_json::from_str::<WakeReceipt>(&w).ok() == Some(woken), w)
}

async fn listing<S: Stage>(stage: &S) -> Verdict {
    let (before, began) = (stage.seen().await.len(), Instant::now());
    let first = stage.connector().list_agents().await.map_err(|error| error.to_string())?;
    for _ in 0..LISTED {
        let again = stage.connector().list_agents().await.map_err(|error| error.to_string())?;
        must(again == first, "the list changes by being asked for")?;
    }
    let took = began.elapsed();
    must(took < LISTED_WITHIN, format!("{LISTED} lists took {took:?}"))?;
    must(stage.seen().await.len() == before, "somebody was told")
}

async fn content<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let words = word("content");
    stage.connector().deliver(agent, &augment(&words)).await.map_err(|error| error.to_string())?;
    must(times(stage, &words).await == 1, "the agent does not have it")
}

async fn template<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let words = word("template");
    let payload = PayloadKind::Template.make_payload(words.clone(), meta());
    stage.connector().deliver(agent, &payload).await.map_err(|error| error.to_string())?;
    let seen = stage.seen().await;
    let mine = seen.iter().find(|seen| seen.words == words).ok_or("the agent does not have it")?;
    must(mine.kind.is_none_or(|kind| kind == PayloadKind::Template), "it is not told from augment")
}

async fn empty<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let before = times(stage, "").await;
    stage.connector().deliver(agent, &augment("")).await.map_err(|error| error.to_string())?;
    must(times(stage, "").await == before + 1, "the agent does not have it")
}

async fn context<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let words = word("context");
    stage.connector().wake(agent, &waking(&words)).await.map_err(|error| error.to_string())?;
    must(times(stage, &words).await == 1, "what it was woken with is lost")
}

async fn composite<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let (words, [session, _]) = (word("composite"), stage.sessions());
    let address = format!("{agent}@{session}");
    stage.connector().wake(&address, &waking(&words)).await.map_err(|error| error.to_string())?;
    must(times(stage, &words).await == 1, "what it was woken with is lost")
}

async fn honest<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let receipt = stage
        .connector()
        .wake(agent, &waking(&word("honest")))
        .await
        .map_err(|error| error.to_string())?;
    let can = stage.interrupts();
    must(receipt.woken == can, format!("says {}, and it is {can}", receipt.woken))
}

async fn session<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let (words, [suffix, apart]) = (word("session"), stage.sessions());
    let opts = WakeOpts { session_id: Some(apart.clone()), ..waking(&words) };
    let address = format!("{agent}@{suffix}");
    let receipt =
        stage.connector().wake(&address, &opts).await.map_err(|error| error.to_string())?;
    let named = |session: Option<&String>| session.is_none_or(|session| *session == apart);
    must(named(receipt.session_id.as_ref()), format!("the receipt says {:?}", receipt.session_id))?;
    let seen = stage.seen().await;
    let mine = seen.iter().find(|seen| seen.words == words).ok_or("the agent does not have it")?;
    must(named(mine.session.as_ref()), format!("it went to {:?}", mine.session))
}

async fn unknown<S: Stage>(stage: &S) -> Verdict {
    let connector = stage.connector();
    for nobody in ["nobody-at-all", "nobody-at-all@kitchen"] {
        let delivered = connector.deliver(nobody, &augment("x")).await.map(|_| ());
        let woken = connector.wake(nobody, &waking("x")).await.map(|_| ());
        for came in [delivered, woken] {
            let failed = matches!(came, Err(ConnectorError::DeliveryFailed { .. }));
            must(failed, format!("{nobody}: {came:?}"))?;
        }
    }
    Ok(())
}

async fn broken<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let Some(connector) = stage.broken() else { return Ok(()) };
    let delivered = connector.deliver(agent, &augment("x")).await.map(|_| ());
    let woken = connector.wake(agent, &waking("x")).await.map(|_| ());
    must(delivered.is_err() && woken.is_err(), format!("{delivered:?} {woken:?}"))
}

async fn once<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let words = word("once");
    let payload = augment(&words);
    for _ in 0..2 {
        stage.connector().deliver(agent, &payload).await.map_err(|error| error.to_string())?;
    }
    let woken = word("woken once");
    let opts = WakeOpts { meta: Some(Box::new(meta())), ..waking(&woken) };
    for _ in 0..2 {
        stage.connector().wake(agent, &opts).await.map_err(|error| error.to_string())?;
    }
    let times = (times(stage, &words).await, times(stage, &woken).await);
    must(times == (1, 1), format!("it is there {times:?} times"))
}

async fn trigger<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let words = word("trigger");
    let mut meta = meta();
    meta.origin.trigger_kind = TriggerKind::Other("supervisor".to_owned());
    let payload = PayloadKind::Augment.make_payload(words.clone(), meta);
    stage.connector().deliver(agent, &payload).await.map_err(|error| error.to_string())?;
    must(times(stage, &words).await == 1, "the agent does not have it")
}

/// A connector that cannot wait adds a warning. A connector that can wait does not report a wake now.
async fn later<S: Stage>(stage: &S, agent: &str) -> Verdict {
    let opts = WakeOpts { when: Some(When::At(LATER)), ..waking(&word("later")) };
    let receipt = stage.connector().wake(agent, &opts).await.map_err(|error| error.to_string())?;
    let claims = receipt.woken && receipt.woken_at < LATER && receipt.warnings.is_empty();
    must(!claims, "it says that the agent was woken, long before")
}

async fn proofs<S: Stage>(stage: &S) -> Verdict {
    let seen = stage.seen().await;
    let unproven: Vec<&Seen> = seen.iter().filter(|seen| !seen.is_proven).collect();
    must(unproven.is_empty(), format!("{} came without a proof", unproven.len()))
}

async fn omitted<S: Stage>(stage: &S) -> Verdict {
    let seen = stage.seen().await;
    let mut wires = seen.iter().filter_map(|seen| seen.wire.as_deref());
    let null = wires.find(|wire| wire.contains(":null"));
    must(null.is_none(), format!("{null:?}"))
}

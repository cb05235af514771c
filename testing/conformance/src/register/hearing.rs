//! Checks the health of bots' reception, and the removal of a bot.

use std::time::Duration;

use nightdesk_register::{AgentOnBot, BotReception};
use nightdesk_types::{BotId, GrantTarget, Principal, TenantScope};
use nightdesk_wake::{NoticeKind, NoticeSubject};

use crate::Harness;
use crate::cast::{bot, new_bot, tenant};

const LONG: Duration = Duration::from_hours(1);

async fn told(
    harness: &impl Harness,
    operator: TenantScope,
) -> Vec<(NoticeSubject, NoticeKind, String)> {
    let notices = harness.wakers().notices(operator).await.expect("read notices");
    let told = |notice: nightdesk_wake::OwnerNotice| {
        (notice.about, notice.kind, notice.outcome.unwrap_or_default())
    };
    notices.into_iter().map(told).collect()
}

async fn hearing(harness: &impl Harness, operator: TenantScope) -> BotReception {
    let hearings = harness.register().receptions(operator).await.expect("read how bots hear");
    let [hearing] = <[BotReception; 1]>::try_from(hearings).expect("one bot was listened for");
    hearing
}

/// Checks that a bot without reception is reported after a while: once, until it receives again.
pub async fn a_deaf_bot_is_told_of_once(harness: &impl Harness) {
    let operator = tenant(harness, "operator").await;
    let deaf = bot(harness, operator, "desk-bot").await.id;
    let register = harness.register();
    let unheard = async |why: &str, after| {
        register.record_outage(operator, deaf, why, after).await.expect("note it")
    };

    assert!(!unheard("not reached", LONG).await, "not for long enough");
    let silence = hearing(harness, operator).await.outage.expect("nothing is heard");
    assert_eq!((silence.why.as_str(), silence.is_told), ("not reached", false));
    assert_eq!(told(harness, operator).await, []);
    assert!(unheard("key rejected", Duration::ZERO).await);
    assert!(!unheard("key rejected", Duration::ZERO).await, "it was told");
    let want = (NoticeSubject::Bot(deaf), NoticeKind::Deaf, "key rejected".to_owned());
    assert_eq!(told(harness, operator).await, std::slice::from_ref(&want));
    let later = hearing(harness, operator).await.outage.expect("nothing is heard");
    assert_eq!((later.since, later.is_told), (silence.since, true));

    register.record_reception(operator, deaf, LONG, "nothing").await.expect("note it");
    assert_eq!(hearing(harness, operator).await.outage, None);
    assert!(unheard("key rejected", Duration::ZERO).await, "it is another time");
    assert_eq!(told(harness, operator).await, [want.clone(), want]);
}

/// Checks that a possible loss is reported for a bot that was deaf for longer than the platform stores its events.
pub async fn what_may_be_lost_is_told(harness: &impl Harness) {
    let operator = tenant(harness, "operator").await;
    let bot = bot(harness, operator, "desk-bot").await.id;
    let register = harness.register();
    let heard = async |kept| {
        register.record_reception(operator, bot, kept, "3 wait").await.expect("note it");
    };

    heard(Duration::ZERO).await;
    assert_eq!(told(harness, operator).await, [], "nobody listened before");
    heard(LONG).await;
    assert_eq!(told(harness, operator).await, []);
    heard(Duration::ZERO).await;
    let want = (NoticeSubject::Bot(bot), NoticeKind::Missed, "3 wait".to_owned());
    assert_eq!(told(harness, operator).await, [want]);
    let before = hearing(harness, operator).await;
    assert!(before.heard_at.is_some() && before.said_at.is_none());
    register.record_message(operator, bot).await.expect("note it");
    assert!(hearing(harness, operator).await.said_at.is_some());
}

/// Checks that only a bot's operator can record its health.
pub async fn nothing_is_noted_of_a_bot_of_somebody_else(harness: &impl Harness) {
    let (operator, other) = (tenant(harness, "operator").await, tenant(harness, "other").await);
    let bot = bot(harness, operator, "desk-bot").await.id;
    let register = harness.register();

    register.record_reception(other, bot, LONG, "").await.expect("it is nothing");
    register.record_message(other, bot).await.expect("it is nothing");
    let told = register.record_outage(other, bot, "why", Duration::ZERO).await;
    assert!(!told.expect("it is nothing"));
    for scope in [operator, other] {
        assert_eq!(register.receptions(scope).await.expect("read how bots hear"), []);
    }
}

/// Checks that a removed bot is found nowhere, and that no bindings or grants on it remain. It is one act.
pub async fn a_removed_bot_is_gone(harness: &impl Harness) {
    let (operator, other) = (tenant(harness, "operator").await, tenant(harness, "other").await);
    let register = harness.register();
    let gone = bot(harness, operator, "desk-bot").await.id;
    let kept = bot(harness, operator, "kept-bot").await.id;
    let (ann, bob) = (on(harness, operator, gone).await, on(harness, other, gone).await);
    register.record_outage(operator, gone, "why", LONG).await.expect("note it");
    assert!(!register.remove_bot(other, gone).await.expect("remove a bot"), "it is another's");
    let path = async || register.hook_path(operator, gone).await.expect("find its path");
    assert_eq!(path().await.as_deref(), Some("desk-bot"));
    assert_eq!(register.hook_path(other, gone).await.expect("find its path"), None);

    assert!(register.remove_bot(operator, gone).await.expect("remove a bot"));
    assert!(!register.remove_bot(operator, gone).await.expect("remove a bot"), "it is gone");
    assert!(register.bot(gone).await.expect("find a bot").is_none());
    assert!(register.bot_at("desk-bot").await.expect("find a bot").is_none());
    assert_eq!(path().await, None);
    assert_eq!(register.receptions(operator).await.expect("read how bots hear"), []);
    for AgentOnBot { scope, agent, .. } in [ann, bob] {
        let reach = register.reach_of(scope, agent).await.expect("read its reach");
        assert_eq!((reach.people, reach.grants, reach.listed), (vec![], vec![], vec![]));
    }
    let deeds = register.audit_records(operator, 0, 100).await.expect("read what was done");
    let about = format!("{{\"bot_id\":\"{gone}\"}}");
    let told = deeds.last().map(|deed| (deed.kind.as_str(), deed.about.replace(' ', "")));
    assert_eq!(told, Some(("bot-removed", about)));
    assert!(register.bot(kept).await.expect("find a bot").is_some());
    register.create_bot(operator, &new_bot("desk-bot")).await.expect("its name is free again");
}

/// Creates an agent with a person, a list and a chat on a bot.
async fn on(harness: &impl Harness, scope: TenantScope, bot: BotId) -> AgentOnBot {
    let register = harness.register();
    let agent = register.create_agent(scope, "helper").await.expect("enter an agent");
    let on = AgentOnBot { scope, agent, bot };
    register.bind(on, "ann").await.expect("bind somebody");
    register.list(on, &["bob".to_owned()]).await.expect("list somebody");
    let chat = GrantTarget::for_chat(None, &format!("chat-of-{agent}"));
    assert!(register.grant(on, &chat, Some(Principal::Any)).await.expect("grant a chat"));
    on
}

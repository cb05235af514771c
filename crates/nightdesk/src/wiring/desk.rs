//! Builds the desk of a node from its stops.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use nightdesk_bus_redis::RedisBell;
use nightdesk_desk::{
    Accounts, Adapters, Desk, Limits, Readiness, SessionBudgets, Shelf, Stops, timekeeping,
};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::Inbox;
use nightdesk_lease::Owners;
use nightdesk_letters::{LetterParts, Letters};
use nightdesk_media::{Media, MediaPlace};
use nightdesk_outside::Outside;
use nightdesk_port::Platform;
use nightdesk_register::{Issuers, Register};
use nightdesk_schedule::{HttpFireCaller, ScheduleClocks, Scheduler};
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;
use nightdesk_vault::Vault;
use nightdesk_webchat::Webchat;

use super::{NodeBase, WaysOut, wake, ways};
use crate::bell::BellTasks;
use crate::config::Config;
use crate::issuers::issuers;

/// Builds the desk.
pub(super) async fn build(
    config: &Config,
    base: &NodeBase,
    vault: Vault,
    webchat: &Arc<Webchat>,
    ways_out: WaysOut,
) -> anyhow::Result<Desk> {
    let WaysOut { outside, webhooks } = ways_out;
    let NodeBase { pg, bell_tasks: ringing, life, .. } = base;
    let pg = || Arc::<Pg>::clone(pg);
    let register = Arc::new(Register::new(pg(), vault.clone()));
    let issuers = Arc::new(issuers(config, &base.pg, vault, outside.clone(), &life.work)?);
    let ways = ways::open(config, &register, &outside).await?;
    let schedule = Arc::new(schedule(base, outside.clone(), &register, &issuers));
    let media = media(config, &base.pg).await?;
    let adapters = adapters(config, &base.pg, webchat)?;
    let accounts = Accounts::new(Arc::clone(&register), adapters, Arc::clone(&media));
    let accounts = Arc::new(accounts);
    Ok(Desk::new(Stops {
        register,
        issuers,
        gate: Arc::new(Gate::new(pg())),
        limits: Arc::new(limits(config, ringing)),
        inbox: Arc::new(Inbox::start(pg(), &life.writers)),
        egress: Arc::new(egress(base, &accounts)),
        accounts,
        media,
        bell: ringing.bell(),
        lines: Arc::clone(&ringing.lines),
        records: pg(),
        wake: Arc::new(wake(config, &base.pg, outside)?.with_webhooks(webhooks)),
        schedule,
        shelf: Shelf::new(pg(), pg()),
        letters: Arc::new(Letters::start(
            LetterParts {
                store: pg(),
                bell: ringing.bell(),
                waits: ringing.lines.chat_watchers().clone(),
                outlets: ways,
                clock: Arc::new(SystemClock::start()),
            },
            &life.writers,
        )),
        tasks: life.work.clone(),
        public_url: config.public_url(),
        readiness: Readiness::new(Arc::new(SystemClock::start())),
    }))
}

/// Returns the stop that makes agents' sends.
fn egress(base: &NodeBase, accounts: &Arc<Accounts>) -> Egress {
    let NodeBase { pg, lease, bell_tasks: ringing, life, .. } = base;
    Egress::new(
        Arc::<Pg>::clone(pg),
        Arc::<Accounts>::clone(accounts),
        Owners::new(Arc::clone(lease), Arc::<Pg>::clone(pg)),
        ringing.bell(),
        ringing.lines.settlements().clone(),
        life.work.clone(),
    )
}

/// Returns the stop that fires due jobs.
fn schedule(
    base: &NodeBase,
    outside: Outside,
    register: &Arc<Register>,
    issuers: &Arc<Issuers>,
) -> Scheduler {
    let minting = Arc::new(timekeeping::DeskTokenMinter(Arc::clone(issuers)));
    let clocks = ScheduleClocks {
        store: Arc::new(timekeeping::StoreClock(Arc::clone(register))),
        wall: Arc::new(SystemClock::start()),
    };
    let callbacks = Arc::new(HttpFireCaller::new(outside, minting));
    let (store, node) = (Arc::<Pg>::clone(&base.pg), base.lease.node().clone());
    Scheduler::new(store, callbacks, clocks, node, &base.life.writers)
}

fn limits(config: &Config, ringing: &BellTasks) -> Limits {
    let limits = Limits::new(config.limits);
    match &ringing.redis_bell {
        Some(bell) => limits.with_shared_limit(Arc::<RedisBell>::clone(bell)),
        None => limits,
    }
}

async fn media(config: &Config, pg: &Arc<Pg>) -> anyhow::Result<Arc<Media>> {
    let objects = open_media_place(config).await?;
    let clock = Arc::new(SystemClock::start());
    Ok(Arc::new(Media::new(Arc::<Pg>::clone(pg), objects, config.public_url(), clock)))
}

/// Opens the store of files.
pub(crate) async fn open_media_place(config: &Config) -> anyhow::Result<MediaPlace> {
    let place = &config.media.place;
    nightdesk_media::open_place(place).await.with_context(|| {
        format!("media.place is {place}; set it to a folder of its own that the desk may write to, such as /var/lib/nightdesk/media, or a bucket as s3://files/desk")
    })
}

fn adapters(config: &Config, pg: &Arc<Pg>, webchat: &Arc<Webchat>) -> anyhow::Result<Adapters> {
    let mut adapters: HashMap<String, Arc<dyn Platform>> = HashMap::new();
    adapters.insert(nightdesk_webchat::NAME.to_owned(), Arc::<Webchat>::clone(webchat));
    let budget = Arc::new(SessionBudgets(Arc::<Pg>::clone(pg)));
    let discord = Arc::new(config.discord.adapter(budget)?);
    adapters.insert(nightdesk_discord::NAME.to_owned(), discord);
    let telegram = Arc::new(config.telegram.adapter()?);
    adapters.insert(nightdesk_telegram::NAME.to_owned(), telegram);
    #[cfg(feature = "scripted")]
    adapters.insert("scripted".to_owned(), Arc::new(nightdesk_testkit::scripted::Scripted::new()?));
    Ok(adapters)
}

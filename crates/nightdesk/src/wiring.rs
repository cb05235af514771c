//! Wiring: the stops, put together.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use nightdesk_api::Street;
use nightdesk_bus::Ears;
use nightdesk_desk::line::Counter;
use nightdesk_desk::{Accounts, Adapters, Desk, Refusals, Ringer, sweep};
use nightdesk_egress::{Egress, Owner};
use nightdesk_gate::Gate;
use nightdesk_inbox::{Inbox, Upkeep};
use nightdesk_line::Node;
use nightdesk_line::driver::{Dials, Room};
use nightdesk_port::Platform;
use nightdesk_register::{Bots, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;
use tokio::net::TcpListener;

use crate::config::Config;
use crate::lifecycle::Lifecycle;

/// Runs a node until it is told to stop.
pub(crate) async fn serve(config: &Config) -> anyhow::Result<()> {
    let pg = Arc::new(connect(config)?);
    let life = Lifecycle::default();
    Upkeep::keep(&*pg).await.context("could not reach the database; is it migrated?")?;
    let epoch =
        pg.begin_node(&config.node.name).await.context("could not begin this node's life")?;
    let node = Node { name: config.node.name.clone(), epoch };
    let ears = Arc::new(Ears::default());
    let desk = Arc::new(desk(config, &pg, &node, &ears, &life)?);

    life.street.spawn(sweep::run(
        Arc::clone(&desk),
        Arc::clone(&ears),
        Arc::<Pg>::clone(&pg),
        life.drain.clone(),
    ));
    let room = Arc::new(Room {
        desk: Arc::new(Counter(Arc::clone(&desk))),
        inbox: Arc::clone(&desk.inbox),
        store: Arc::<Pg>::clone(&pg),
        ears,
        clock: Arc::new(SystemClock::started()),
        node,
        drain: life.drain.clone(),
        dials: Dials::default(),
    });
    let address = config.listen.address;
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("could not listen on {address}; is another desk running there?")
    })?;
    let url = config.public_url();
    tracing::info!(%address, url, node = config.node.name, "desk {} listens on {address}", config.node.name);
    let routes = nightdesk_api::routes(Street { desk, room, lines: life.street.clone() });
    life.street.spawn(nightdesk_api::serve(
        listener,
        routes,
        life.street.clone(),
        life.drain.clone(),
    ));

    life.signalled().await?;
    life.stop().await;
    pg.close().await;
    Ok(())
}

fn desk(
    config: &Config,
    pg: &Arc<Pg>,
    node: &Node,
    ears: &Arc<Ears>,
    life: &Lifecycle,
) -> anyhow::Result<Desk> {
    let register = Arc::new(Register::over(Arc::<Pg>::clone(pg), config.vault()?));
    let accounts = Arc::new(Accounts::new(Arc::clone(&register), adapters()?));
    let owner = Owner { node: node.name.clone(), epoch: node.epoch };
    Ok(Desk {
        register,
        gate: Gate::over(Arc::<Pg>::clone(pg)),
        refusals: Refusals::default(),
        inbox: Arc::new(Inbox::start(Arc::<Pg>::clone(pg), &life.writers)),
        egress: Egress::new(Arc::<Pg>::clone(pg), Arc::<Accounts>::clone(&accounts), owner),
        accounts,
        bell: Ringer(Arc::<Ears>::clone(ears)),
        tasks: life.work.clone(),
    })
}

/// The platforms this build can speak to.
#[cfg_attr(
    not(feature = "scripted"),
    expect(clippy::unnecessary_wraps, reason = "no platform of ours yet can fail to open")
)]
fn adapters() -> anyhow::Result<Adapters> {
    #[cfg_attr(not(feature = "scripted"), expect(unused_mut, reason = "no platform of ours yet"))]
    let mut adapters: HashMap<String, Arc<dyn Platform>> = HashMap::new();
    #[cfg(feature = "scripted")]
    adapters.insert("scripted".to_owned(), Arc::new(nightdesk_testkit::scripted::Scripted::new()?));
    Ok(adapters)
}

/// Gets ready to reach the database.
pub(crate) fn connect(config: &Config) -> anyhow::Result<Pg> {
    let password = crate::config::password(config.database.password_file.as_deref())?;
    Pg::connect(&config.database.url, password.as_deref())
        .context("database.url is not a PostgreSQL URL")
}

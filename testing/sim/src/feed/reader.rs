//! Reads the feed from the stored cursor, on the node that owns the bot.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use futures_util::future::join_all;
use http::HeaderMap;
use nightdesk_bus::Ring;
use nightdesk_desk::{Account, Desk};
use nightdesk_gate::AdmittedEvent;
use nightdesk_inbox::{PutOutcome, SourceCursor};
use nightdesk_intake::{Intake, verify};
use nightdesk_lease::{Owners, Ownership, Resource};
use nightdesk_port::SignedRequest;
use nightdesk_testkit::scripted::{SIGNATURE_HEADER, sign};
use nightdesk_types::NodeEpoch;
use tokio::time::sleep;

use crate::cast::BOT_KEY;
use crate::world::World;

/// Interval of the reads.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Name of the source in the store.
const SOURCE: &str = "feed";

/// Reads the feed whenever this node owns the bot.
#[expect(clippy::infinite_loop, reason = "the owner of its task ends it with the node")]
pub async fn read(world: Arc<World>, name: String, desk: Arc<Desk>, owners: Owners) {
    let reader = Reader { world, name, desk };
    let bot = Resource::Bot(reader.world.cast.bot);
    loop {
        sleep(LOOK_EVERY).await;
        if let Ok(Ownership::Here(_)) = owners.find_or_claim(bot).await {
            // After every error the stored cursor is the place to continue.
            drop(reader.read_on().await);
        }
    }
}

struct Reader {
    world: Arc<World>,
    name: String,
    desk: Arc<Desk>,
}

impl Reader {
    /// Reads until an error occurs.
    async fn read_on(&self) -> anyhow::Result<()> {
        let account =
            self.desk.stops.accounts.find_by_id(self.world.cast.bot).await?.context("no bot")?;
        let store = self.desk.stops.inbox.store();
        let taken = store.take_source(account.bot.operator, account.bot.id, SOURCE).await?;
        let (epoch, cursor) = taken;
        let mut read = cursor.map_or(Ok(0), |cursor| cursor.parse())?;
        loop {
            ensure!(!self.world.outside.is_cut(&self.name), "cut off from the platform");
            let page = self.world.feed.after(&self.world, read);
            let mut admitted = Vec::new();
            for (number, body) in page {
                admitted.push((self.admit(&account, &body).await?, mark(number, epoch)));
                read = number;
            }
            self.put(&admitted).await?;
            sleep(LOOK_EVERY).await;
        }
    }

    async fn admit(&self, account: &Account, body: &[u8]) -> anyhow::Result<AdmittedEvent> {
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE_HEADER, sign(BOT_KEY, body).parse()?);
        let request = SignedRequest::post(&headers, body);
        let Intake::Events(events) = verify(&*account.platform, &account.bot, &request)? else {
            bail!("the feed asks nothing");
        };
        let event = events.into_iter().next().and_then(Result::ok).context("unreadable")?;
        self.desk.stops.gate.admit(event, None).await.ok().context("not admitted")
    }

    /// Stores all events of a page at once. The events after a failed one are stored again, too.
    async fn put(&self, page: &[(AdmittedEvent, SourceCursor)]) -> anyhow::Result<()> {
        let puts =
            page.iter().map(|(event, mark)| self.desk.stops.inbox.put(event, Some(mark.clone())));
        for put in join_all(puts).await {
            let stored = match put? {
                PutOutcome::Stored(stored) => stored,
                PutOutcome::Duplicate => continue,
                PutOutcome::Stale | PutOutcome::Fenced => bail!("not any more"),
            };
            for stored in stored {
                let (agent, seq) = (stored.agent, stored.seq);
                self.desk.stops.bell.ring(Ring::Entry { agent, seq }).await;
            }
        }
        Ok(())
    }
}

fn mark(number: usize, epoch: NodeEpoch) -> SourceCursor {
    SourceCursor { source: SOURCE.to_owned(), epoch, cursor: number.to_string() }
}

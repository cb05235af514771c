//! Records the owners of bots, and writes for a bot by a node that no longer owned it.

use std::collections::BTreeMap;

use anyhow::Result;
use nightdesk_judge::{Event, Recorder};

use super::columns;
use crate::cluster::Cluster;
use crate::psql::Looker;
use crate::stage::DATABASE;

/// Makes the database watch the writes: only inside the write is the bot's owner certain. A fenced node holds the
/// owner's row there, so the trigger sees the owner as which the node was admitted.
const WATCH: &str = "
    create table strange_claims (
        number bigserial primary key, resource text not null,
        node text not null, node_epoch bigint not null, owner_epoch bigint not null
    );
    create function watch_claim() returns trigger
    language plpgsql security definer set search_path = public, pg_temp as $$
    begin
        insert into strange_claims (resource, node, node_epoch, owner_epoch)
        select o.resource, new.node, new.node_epoch, o.epoch from owners o
        where o.resource = 'bot/' || new.bot_id
          and (o.node, o.node_epoch) <> (new.node, new.node_epoch);
        return null;
    end
    $$;
    create trigger watch_claim after update on sends for each row
    when (old.state = 'asked' and new.state = 'calling') execute function watch_claim()";

/// Begins to watch.
pub fn watch(cluster: &Cluster) -> Result<()> {
    cluster.ask(DATABASE, WATCH).map(drop)
}

/// Known state of owners.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// The last epoch that was read for each resource.
    latest: BTreeMap<String, u64>,
    /// The epoch under which a life of a node owned a resource.
    epochs: BTreeMap<(String, String), u64>,
    /// The last strange claim that was read.
    seen: u64,
}

impl Owners {
    pub(super) fn look(&mut self, looker: &mut Looker, notes: &Recorder) -> Result<()> {
        let owners = "select resource, node || '#' || node_epoch, epoch from owners";
        for row in looker.ask(owners)? {
            let [resource, owner, epoch] = columns(&row)?;
            self.owned(resource, owner, epoch.parse()?, notes);
        }
        let claims = format!(
            "select number, resource, node || '#' || node_epoch, owner_epoch
             from strange_claims where number > {} order by number",
            self.seen
        );
        for row in looker.ask(&claims)? {
            let [number, resource, claimed_by, owner_epoch] = columns(&row)?;
            self.seen = number.parse()?;
            self.claimed((resource, claimed_by), owner_epoch.parse()?, notes);
        }
        Ok(())
    }

    fn owned(&mut self, resource: &str, owner: &str, epoch: u64, notes: &Recorder) {
        if self.latest.insert(resource.to_owned(), epoch) != Some(epoch) {
            let (resource, owner) = (resource.to_owned(), owner.to_owned());
            self.epochs.insert((resource.clone(), owner.clone()), epoch);
            notes.note(Event::Lease { resource, owner, epoch });
        }
    }

    /// Records a write by a node other than the owner, with the owner's epoch at that time.
    fn claimed(&self, (resource, by): (&str, &str), owner_epoch: u64, notes: &Recorder) {
        let key = (resource.to_owned(), by.to_owned());
        let epoch = self.epochs.get(&key).copied().filter(|epoch| *epoch < owner_epoch);
        notes.note(Event::Commit { resource: key.0, epoch: epoch.unwrap_or_default() });
    }
}

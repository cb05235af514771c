//! The store of leases.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::{Life, Owner, Peer, PeerDirectory, Renewal, Resource, Store};
use nightdesk_types::limits::NODES_MAX;
use nightdesk_types::{LeaseBeat, Node, NodeEpoch, OwnerEpoch, StoreError};

use crate::Pg;

#[async_trait]
impl Store for Pg {
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.single("register a node"), |connection| {
            let epoch = sqlx::query_scalar!(
                "insert into nodes as n (node, epoch, started_at, expires_at)
                 values ($1, 1, now(), clock_timestamp() + make_interval(secs => $2))
                 on conflict (node) do update set epoch = n.epoch + 1, beat = 0, is_over = false,
                     started_at = excluded.started_at, expires_at = excluded.expires_at,
                     peer_url = null
                 returning epoch",
                name,
                lasts.as_secs_f64()
            )
            .fetch_one(connection)
            .await?;
            Ok(NodeEpoch::new(epoch))
        })
    }

    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewal, StoreError> {
        let (node, history) = (node.clone(), Arc::clone(&self.history));
        run_to_end!(self.single("renew a lease"), |connection| {
            history.check(&mut *connection).await?;
            let renewed = sqlx::query!(
                "update nodes
                 set beat = beat + 1,
                     expires_at = clock_timestamp() + make_interval(secs => $3)
                 where node = $1 and epoch = $2 and not is_over",
                node.name,
                node.epoch.get(),
                lasts.as_secs_f64()
            )
            .execute(connection)
            .await?;
            Ok(if renewed.rows_affected() == 1 { Renewal::Kept } else { Renewal::Over })
        })
    }

    async fn end(&self, node: &Node) -> Result<(), StoreError> {
        let node = node.clone();
        run_to_end!(self.single("end a lease"), |connection| {
            sqlx::query!(
                "update nodes
                 set is_over = true, expires_at = least(expires_at, clock_timestamp())
                 where node = $1 and epoch = $2",
                node.name,
                node.epoch.get()
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn read_lives(&self) -> Result<Vec<Life>, StoreError> {
        run_to_end!(self.single("read the leases"), |connection| {
            let rows = sqlx::query!(
                r#"select node, epoch, beat, expires_at <= clock_timestamp() as "is_expired!"
                   from nodes where not is_over
                   order by node limit $1"#,
                NODES_MAX
            )
            .fetch_all(connection)
            .await?;
            let lives = rows.into_iter().map(|row| Life {
                node: Node { name: row.node, epoch: NodeEpoch::new(row.epoch) },
                beat: LeaseBeat::new(row.beat),
                is_expired: row.is_expired,
            });
            Ok(lives.collect())
        })
    }

    async fn end_lives(&self, lives: &[Life]) -> Result<Vec<Node>, StoreError> {
        let names: Vec<_> = lives.iter().map(|life| life.node.name.clone()).collect();
        let epochs: Vec<_> = lives.iter().map(|life| life.node.epoch.get()).collect();
        let beats: Vec<_> = lives.iter().map(|life| life.beat.get()).collect();
        run_to_end!(self.single("end the lives of dead nodes"), |connection| {
            let ended = sqlx::query!(
                r#"update nodes n
                   set is_over = true, expires_at = least(n.expires_at, clock_timestamp())
                   from unnest($1::text[], $2::bigint[], $3::bigint[]) as d (node, epoch, beat)
                   where n.node = d.node and n.epoch = d.epoch and n.beat = d.beat
                     and not n.is_over
                   returning n.node, n.epoch"#,
                &names,
                &epochs,
                &beats
            )
            .fetch_all(connection)
            .await?;
            let node = |name, epoch| Node { name, epoch: NodeEpoch::new(epoch) };
            Ok(ended.into_iter().map(|row| node(row.node, row.epoch)).collect())
        })
    }

    async fn count_living(&self) -> Result<u32, StoreError> {
        run_to_end!(self.single("count nodes"), |connection| {
            let living =
                sqlx::query_scalar!(r#"select count(*) as "living!" from nodes where not is_over"#)
                    .fetch_one(connection)
                    .await?;
            Ok(u32::try_from(living).unwrap_or(u32::MAX))
        })
    }

    async fn find_or_claim(
        &self,
        resource: Resource,
        node: &Node,
    ) -> Result<Option<Owner>, StoreError> {
        let node = node.clone();
        run_to_end!(self.single("claim ownership"), |connection| {
            let owner = sqlx::query!(
                r#"select node as "node!", node_epoch as "node_epoch!", epoch as "epoch!"
                   from own($1, $2, $3)"#,
                resource.to_string(),
                node.name,
                node.epoch.get()
            )
            .fetch_optional(connection)
            .await?;
            Ok(owner.map(|row| Owner {
                node: Node { name: row.node, epoch: NodeEpoch::new(row.node_epoch) },
                epoch: OwnerEpoch::new(row.epoch),
            }))
        })
    }
}

#[async_trait]
impl PeerDirectory for Pg {
    async fn announce(&self, node: &Node, url: &str) -> Result<(), StoreError> {
        let (node, url) = (node.clone(), url.to_owned());
        run_to_end!(self.single("announce a node"), |connection| {
            sqlx::query!(
                "update nodes set peer_url = $3 where node = $1 and epoch = $2",
                node.name,
                node.epoch.get(),
                url
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn find_peer(&self, name: &str) -> Result<Peer, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.single("find a node"), |connection| {
            let found = sqlx::query!(
                r#"select not is_over as "is_living!", peer_url from nodes where node = $1"#,
                name
            )
            .fetch_optional(connection)
            .await?;
            Ok(found.map_or_else(Peer::default, |row| Peer {
                is_living: row.is_living,
                url: row.peer_url,
            }))
        })
    }
}

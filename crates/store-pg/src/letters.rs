//! The store of letters, their receipts, and the grants between agents.

mod addresses;
mod due_and_replies;
mod grants;
mod hooks;
mod put;
mod receipts;
mod row;

use async_trait::async_trait;
use nightdesk_letters::{
    AddressFacts, AddressQuery, DeliveryRecord, DueLetter, Letter, LetterEntry, LetterStore, Party,
    Peer, PeerLine, Posting, PostingOutcome, Receipt, Receipts, ReplyOutcome, Route,
};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::limits::LETTERS_PAGE_MAX;
use nightdesk_types::{AgentId, LetterId, Seq, StoreError, TenantId, TenantScope};
use nightdesk_vault::{BodyKind, BodyOwner};
use sqlx::PgConnection;

pub(crate) use self::hooks::LetterHookByDigest;
use self::put::PutLetter;
use self::row::{LetterRow, SealedLetter};
use crate::Pg;
use crate::bodies::{SealedBody, message_owner};
use crate::row::bad_column;

/// The rows of a function that returns letters.
macro_rules! letter_rows {
    ($from:literal, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            LetterRow,
            r#"select letter_id as "letter_id!", agent_id as "agent_id!",
                   to_agent_id as "to_agent_id!", dispatch_id as "dispatch_id!", route as "route!",
                   kind as "kind!", session, correlation_id, hop as "hop!",
                   state as "state!", seq, is_acked as "is_acked!",
                   sent_at as "sent_at!: jiff_sqlx::Timestamp",
                   due_at as "due_at: jiff_sqlx::Timestamp",
                   reply_by as "reply_by: jiff_sqlx::Timestamp", reply, reply_key_id, reply_body_id,
                   replied_at as "replied_at: jiff_sqlx::Timestamp""# + $from,
            $($argument),+
        )
    };
}

#[async_trait]
impl LetterStore for Pg {
    async fn resolve_addresses(
        &self,
        queries: &[AddressQuery],
    ) -> Result<Vec<AddressFacts>, StoreError> {
        let queries = queries.to_vec();
        run_to_end!(self.single("look up addresses"), |connection| {
            addresses::read(connection, &queries).await
        })
    }

    async fn put(&self, postings: &[Posting]) -> Result<Vec<PostingOutcome>, StoreError> {
        let Some(first) = postings.first() else { return Ok(Vec::new()) };
        let (scope, bodies) = (first.letter.from.scope, self.seal_letters(postings).await?);
        let (senders, letters) = (senders(postings), postings.to_vec());
        let puts = run_to_end!(self.for_tenant("put letters", scope), |connection| {
            put::put_letters(connection, &letters, bodies).await
        })
        .inspect_err(|_| self.bodies.forget_newest(recipient_tenants(postings)))?;
        let mut outcomes = Vec::with_capacity(puts.len());
        for (put, from) in puts.into_iter().zip(senders) {
            outcomes.push(match put {
                PutLetter::Done(outcome) => outcome,
                PutLetter::Repeat(first) => {
                    let first = self.open_replies(from, vec![*first]).await?.pop();
                    let first = first.ok_or_else(|| missing_letter("put letters"))?;
                    PostingOutcome::Duplicate(Box::new(first))
                }
            });
        }
        Ok(outcomes)
    }

    async fn take_due(&self, to: Party, letter: LetterId) -> Result<Option<DueLetter>, StoreError> {
        let name = "look for a letter that is due";
        let due = run_to_end!(self.for_tenant(name, to.scope), |connection| {
            due_and_replies::take_due(connection, to, letter).await
        })?;
        let Some((due, sealed)) = due else { return Ok(None) };
        let opened = self.open_body(&message_owner(to.scope, to.agent), sealed).await?;
        let Ok(body) = opened else {
            self.park_unreadable(to, letter).await?;
            return Ok(None);
        };
        let entry = LetterEntry { body, ..due.entry };
        Ok(Some(DueLetter { entry, ..due }))
    }

    async fn record_delivery(
        &self,
        to: Party,
        letter: LetterId,
        seq: Option<Seq>,
    ) -> Result<(), StoreError> {
        run_to_end!(self.single("store the inbox number of a letter"), |connection| {
            sqlx::query!(
                "select letter_came($1, $2, $3, $4)",
                to.scope.tenant().uuid(),
                to.agent.uuid(),
                letter.uuid(),
                seq.map(Seq::get)
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn store_reply(
        &self,
        by: Party,
        letter: LetterId,
        words: &str,
    ) -> Result<ReplyOutcome, StoreError> {
        let from = run_to_end!(self.single("find the sender of a letter"), |connection| {
            due_and_replies::read_sender(connection, by, letter).await
        })?;
        let Some(from) = from else { return Ok(ReplyOutcome::Unknown) };
        let words = self.seal_body(&reply_owner(from), words.as_bytes()).await?;
        run_to_end!(self.for_tenant("take a reply", by.scope), |connection| {
            due_and_replies::decide_and_reply(connection, by, letter, words).await
        })
    }

    async fn letter(&self, from: Party, letter: LetterId) -> Result<Option<Letter>, StoreError> {
        let found = run_to_end!(self.single("read a letter"), |connection| {
            read_letter(connection, from, letter).await
        })?;
        Ok(self.open_replies(from, found.into_iter().collect()).await?.pop())
    }

    async fn letters(
        &self,
        from: Party,
        before: Option<LetterId>,
    ) -> Result<Vec<Letter>, StoreError> {
        let letters = run_to_end!(self.single("list letters"), |connection| {
            let rows = letter_rows!(
                " from letters_page($1, $2, $3, $4)",
                from.scope.tenant().uuid(),
                from.agent.uuid(),
                before.map(LetterId::uuid),
                i32::try_from(LETTERS_PAGE_MAX).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            rows.into_iter().map(LetterRow::letter).collect::<sqlx::Result<Vec<SealedLetter>>>()
        })?;
        self.open_replies(from, letters).await
    }

    async fn peers(&self, of: Party, at_most: usize) -> Result<Vec<Peer>, StoreError> {
        run_to_end!(self.single("list the agents that an agent can write to"), |connection| {
            let rows = sqlx::query!(
                r#"select tenant as "tenant!", agent as "agent!", name, session, is_busy, sessions
                   from letter_peers($1, $2, $3)"#,
                of.scope.tenant().uuid(),
                of.agent.uuid(),
                i32::try_from(at_most).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            let peers = rows.into_iter().map(|row| {
                let tenant = TenantId::from_uuid(row.tenant);
                let is_own = tenant == of.scope.tenant();
                let scope = if is_own { of.scope } else { TenantScope::for_tenant(tenant) };
                Peer {
                    party: Party { scope, agent: AgentId::from_uuid(row.agent) },
                    name: row.name,
                    live: peer_line(row.session, row.is_busy, row.sessions),
                }
            });
            Ok(peers.collect())
        })
    }

    async fn find_line(&self, party: Party) -> Result<Option<PeerLine>, StoreError> {
        run_to_end!(self.for_tenant("find an agent's line", party.scope), |connection| {
            let row = sqlx::query!(
                "select session, is_busy, sessions from letter_live($1, $2)",
                party.scope.tenant().uuid(),
                party.agent.uuid()
            )
            .fetch_one(connection)
            .await?;
            Ok(peer_line(row.session, row.is_busy, row.sessions))
        })
    }
}

/// The text of a reply that does not open, for the agent that waits for it.
const UNREADABLE_REPLY: &str = "[the stored reply cannot be read; the operator was told]";

/// Returns the owner of the reply to a letter of this sender.
const fn reply_owner(from: Party) -> BodyOwner {
    BodyOwner { tenant: from.scope.tenant(), party: from.agent.uuid(), kind: BodyKind::Reply }
}

fn senders(postings: &[Posting]) -> Vec<Party> {
    postings.iter().map(|posting| posting.letter.from).collect()
}

fn recipient_tenants(postings: &[Posting]) -> impl Iterator<Item = TenantId> {
    postings.iter().map(|posting| posting.letter.to.scope.tenant())
}

fn missing_letter(operation: &'static str) -> StoreError {
    StoreError::broken(operation, bad_column("letters", "letter_id"))
}

impl Pg {
    /// Seals each letter for its recipient. An erased tenant has no agents, so its letters are refused without a body.
    async fn seal_letters(&self, postings: &[Posting]) -> Result<Vec<SealedBody>, StoreError> {
        let keys = self.sealing_keys(recipient_tenants(postings)).await?;
        let seal = |Posting { letter, entry }: &Posting| {
            let owner = message_owner(letter.to.scope, letter.to.agent);
            keys.seal(&owner, &entry.body).unwrap_or_else(SealedBody::without_key)
        };
        Ok(postings.iter().map(seal).collect())
    }

    /// Opens the replies to letters of one sender.
    async fn open_replies(
        &self,
        from: Party,
        letters: Vec<SealedLetter>,
    ) -> Result<Vec<Letter>, StoreError> {
        let sealed = letters.iter().filter_map(|letter| letter.reply.as_ref());
        let keys = sealed.map(|(sealed, _)| (from.scope.tenant(), sealed.key));
        let keys = self.opening_keys(keys).await?;
        let open = |SealedLetter { letter, reply }: SealedLetter| {
            let owner = reply_owner(Party { agent: letter.from, ..from });
            let words = |sealed| {
                let words = keys.open(&owner, sealed).ok().map(String::from_utf8);
                words.and_then(Result::ok).unwrap_or_else(|| UNREADABLE_REPLY.to_owned())
            };
            Letter { reply: reply.map(|(sealed, at)| (words(sealed), at)), ..letter }
        };
        Ok(letters.into_iter().map(open).collect())
    }

    /// Parks a letter that was due and does not open.
    async fn park_unreadable(&self, to: Party, letter: LetterId) -> Result<(), StoreError> {
        run_to_end!(self.single("park a letter"), |connection| {
            sqlx::query_scalar!(
                "select letter_park_unreadable($1, $2, $3)",
                to.scope.tenant().uuid(),
                to.agent.uuid(),
                letter.uuid()
            )
            .fetch_one(connection)
            .await?;
            Ok(())
        })
    }
}

fn peer_line(
    session: Option<String>,
    is_busy: Option<bool>,
    sessions: Option<Vec<String>>,
) -> Option<PeerLine> {
    let sessions = SessionNames::from_usable(sessions.unwrap_or_default());
    session.map(|session| PeerLine { session, sessions, is_busy: is_busy.unwrap_or_default() })
}

async fn read_letter(
    connection: &mut PgConnection,
    from: Party,
    letter: LetterId,
) -> sqlx::Result<Option<SealedLetter>> {
    let row = letter_rows!(
        " from letter_look($1, $2, $3)",
        from.scope.tenant().uuid(),
        from.agent.uuid(),
        letter.uuid()
    )
    .fetch_optional(connection)
    .await?;
    row.map(LetterRow::letter).transpose()
}

#[async_trait]
impl Receipts for Pg {
    async fn store_receipts(&self, receipts: &[Receipt]) -> Result<(), StoreError> {
        let receipts = receipts.to_vec();
        run_to_end!(self.single("store receipts"), |connection| {
            receipts::write(connection, &receipts).await
        })
    }

    async fn read_receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        let dispatch_id = dispatch_id.to_owned();
        run_to_end!(self.for_tenant("read the receipts of a letter", scope), |connection| {
            let rows = sqlx::query!(
                "select connector, address, route, came from letter_receipts
                 where tenant_id = $1 and dispatch_id = $2 order by connector, address",
                scope.tenant().uuid(),
                dispatch_id
            )
            .fetch_all(connection)
            .await?;
            let records = rows.into_iter().map(|row| {
                let route = Route::from_slug(&row.route);
                let outcome = serde_json::from_value(row.came);
                Ok(DeliveryRecord {
                    dispatch_id: dispatch_id.clone(),
                    connector: row.connector,
                    address: row.address,
                    route: route.ok_or_else(|| bad_column("letter_receipts", "route"))?,
                    outcome: outcome.map_err(|_| bad_column("letter_receipts", "came"))?,
                })
            });
            records.collect()
        })
    }
}

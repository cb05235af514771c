//! The gathered put: a batch of letters in one transaction.

use nightdesk_gate::LetterGrants;
use nightdesk_letters::decide::{LetterDecision, LetterFacts, LetterPlace, decide_batch};
use nightdesk_letters::{NewLetter, PeerLine, Posting, PostingOutcome};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::HOP_REMEMBERED;
use nightdesk_types::{LetterId, Seq, TenantScope, Timestamp};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::read_letter;
use super::row::{CapacityRow, SealedLetter};
use crate::bodies::SealedBody;
use crate::inbox::tenants_of;
use crate::register::audit::record_act;
use crate::row::{bad_column, moment};

/// The result of one letter.
pub(super) enum PutLetter {
    /// The outcome is known.
    Done(PostingOutcome),
    /// It was put before. This is its row, whose reply is still sealed.
    Repeat(Box<SealedLetter>),
}

/// Locks the inboxes, reads the facts of every letter, decides, and writes the decisions. Each letter has its sealed
/// body.
pub(super) async fn put_letters(
    connection: &mut PgConnection,
    postings: &[Posting],
    bodies: Vec<SealedBody>,
) -> sqlx::Result<Vec<PutLetter>> {
    let (facts, now) = read_facts(connection, postings).await?;
    let decisions = decide_batch(postings, &facts, now);
    let columns = LetterColumns::new(postings, bodies, &decisions);
    let written = write(connection, &columns, now).await?;
    let puts = outcomes(connection, postings, &decisions, written).await?;
    audit_operator_letters(connection, postings, &decisions).await?;
    Ok(puts)
}

/// The facts of one letter, as the database returns them.
struct FactsRow {
    now_at: jiff_sqlx::Timestamp,
    repeated: Option<Uuid>,
    is_granted: bool,
    is_granted_back: bool,
    highest_hop: i32,
    entries: Option<i64>,
    entries_max: Option<i64>,
    bytes: Option<i64>,
    bytes_max: Option<i64>,
}

impl FactsRow {
    fn facts(self) -> LetterFacts {
        let Self { entries, entries_max, bytes, bytes_max, .. } = self;
        LetterFacts {
            repeated: self.repeated.map(LetterId::from_uuid),
            grants: LetterGrants { by_sender: self.is_granted, by_recipient: self.is_granted_back },
            capacity: CapacityRow { entries, entries_max, bytes, bytes_max }.capacity(),
            highest_hop: self.highest_hop.unsigned_abs(),
        }
    }
}

async fn read_facts(
    connection: &mut PgConnection,
    postings: &[Posting],
) -> sqlx::Result<(Vec<LetterFacts>, Timestamp)> {
    let letters = || postings.iter().map(|posting| &posting.letter);
    let tenants: Vec<Uuid> = letters().map(|one| one.from.scope.tenant().uuid()).collect();
    let agents: Vec<Uuid> = letters().map(|one| one.from.agent.uuid()).collect();
    let to_tenants: Vec<Uuid> = letters().map(|one| one.to.scope.tenant().uuid()).collect();
    let to_agents: Vec<Uuid> = letters().map(|one| one.to.agent.uuid()).collect();
    let dispatches: Vec<String> = letters().map(|one| one.dispatch_id.clone()).collect();
    let rows = sqlx::query_as!(
        FactsRow,
        r#"select now_at as "now_at!: jiff_sqlx::Timestamp", repeated,
               is_granted as "is_granted!", is_granted_back as "is_granted_back!",
               highest_hop as "highest_hop!", entries, entries_max, bytes, bytes_max
           from letter_facts($1, $2, $3, $4, $5, $6, make_interval(secs => $7)) order by nth"#,
        &tenants_of(letters().flat_map(|one| [one.from.scope, one.to.scope])),
        &tenants,
        &agents,
        &to_tenants,
        &to_agents,
        &dispatches,
        HOP_REMEMBERED.as_secs_f64()
    )
    .fetch_all(connection)
    .await?;
    let now = rows.first().filter(|_| rows.len() == postings.len()).map(|row| row.now_at.to_jiff());
    let now = now.ok_or_else(|| bad_column("letter_facts", "nth"))?;
    Ok((rows.into_iter().map(FactsRow::facts).collect(), now))
}

/// The letters to write, as columns for the statement.
#[derive(Default)]
struct LetterColumns {
    letters: Vec<Uuid>,
    tenants: Vec<Uuid>,
    agents: Vec<Uuid>,
    to_tenants: Vec<Uuid>,
    to_agents: Vec<Uuid>,
    dispatches: Vec<String>,
    routes: Vec<String>,
    kinds: Vec<String>,
    sessions: Vec<Option<String>>,
    correlations: Vec<Option<String>>,
    hops: Vec<i32>,
    due: Vec<Option<jiff_sqlx::Timestamp>>,
    wait_secs: Vec<Option<f64>>,
    bots: Vec<Uuid>,
    chats: Vec<String>,
    bodies: Vec<Vec<u8>>,
    key_ids: Vec<i64>,
    body_ids: Vec<Uuid>,
    is_put: Vec<bool>,
}

impl LetterColumns {
    fn new(postings: &[Posting], bodies: Vec<SealedBody>, decisions: &[LetterDecision]) -> Self {
        let mut writes = Self::default();
        for ((posting, body), decision) in postings.iter().zip(bodies).zip(decisions) {
            if let LetterDecision::Write { hop, place, .. } = decision {
                writes.add(posting, *hop, *place);
                writes.bodies.push(body.bytes);
                writes.key_ids.push(body.key.get());
                writes.body_ids.push(body.id.uuid());
            }
        }
        writes
    }

    fn add(&mut self, Posting { letter, entry }: &Posting, hop: u32, place: LetterPlace) {
        let NewLetter { from, to, .. } = letter;
        self.letters.push(letter.id.uuid());
        self.tenants.push(from.scope.tenant().uuid());
        self.agents.push(from.agent.uuid());
        self.to_tenants.push(to.scope.tenant().uuid());
        self.to_agents.push(to.agent.uuid());
        self.dispatches.push(letter.dispatch_id.clone());
        self.routes.push(letter.route.slug().to_owned());
        self.kinds.push(letter.kind.slug().to_owned());
        self.sessions.push(letter.session.clone());
        self.correlations.push(letter.correlation_id.clone());
        self.hops.push(i32::try_from(hop).unwrap_or(i32::MAX));
        self.due.push(letter.when.map(moment));
        self.wait_secs.push(letter.wait.map(|wait| wait.as_secs_f64()));
        self.bots.push(entry.bot.uuid());
        self.chats.push(entry.chat_id.clone());
        self.is_put.push(place == LetterPlace::Inbox);
    }
}

/// A letter that was written: its number in the inbox, and the session of the agent's line.
struct WrittenRow {
    seq: Option<i64>,
    session: Option<String>,
}

#[expect(clippy::cognitive_complexity, reason = "the macro has a branch for each column")]
async fn write(
    connection: &mut PgConnection,
    writes: &LetterColumns,
    now: Timestamp,
) -> sqlx::Result<Vec<WrittenRow>> {
    if writes.letters.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as!(
        WrittenRow,
        "select seq, session from letter_write(
             $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
             $20)
         order by nth",
        &writes.letters,
        &writes.tenants,
        &writes.agents,
        &writes.to_tenants,
        &writes.to_agents,
        &writes.dispatches,
        &writes.routes,
        &writes.kinds,
        &writes.sessions as &[Option<String>],
        &writes.correlations as &[Option<String>],
        &writes.hops,
        &writes.due as &[Option<jiff_sqlx::Timestamp>],
        &writes.wait_secs as &[Option<f64>],
        &writes.bots,
        &writes.chats,
        &writes.bodies,
        &writes.key_ids,
        &writes.body_ids,
        &writes.is_put,
        moment(now) as jiff_sqlx::Timestamp
    )
    .fetch_all(connection)
    .await
}

/// Returns one outcome for each letter. A letter that was written has a row, in the order of the batch.
async fn outcomes(
    connection: &mut PgConnection,
    postings: &[Posting],
    decisions: &[LetterDecision],
    written: Vec<WrittenRow>,
) -> sqlx::Result<Vec<PutLetter>> {
    let (mut puts, mut written) = (Vec::with_capacity(postings.len()), written.into_iter());
    for (Posting { letter, .. }, decision) in postings.iter().zip(decisions) {
        puts.push(match decision {
            LetterDecision::Write { place, .. } => {
                let row = written.next().ok_or_else(|| bad_column("letter_write", "nth"))?;
                PutLetter::Done(row.outcome(*place)?)
            }
            LetterDecision::Repeat(first) => {
                let first = read_letter(connection, letter.from, *first).await?;
                let first = first.ok_or_else(|| bad_column("letters", "letter_id"))?;
                PutLetter::Repeat(Box::new(first))
            }
            LetterDecision::Refuse(refusal) => PutLetter::Done(PostingOutcome::from(*refusal)),
        });
    }
    Ok(puts)
}

impl WrittenRow {
    fn outcome(self, place: LetterPlace) -> sqlx::Result<PostingOutcome> {
        Ok(match place {
            LetterPlace::Inbox => {
                let seq = self.seq.ok_or_else(|| bad_column("letter_write", "seq"))?;
                // The letter itself waits for its ack.
                let live = self.session.map(|session| PeerLine {
                    session,
                    sessions: SessionNames::default(),
                    is_busy: true,
                });
                PostingOutcome::Stored { seq: Seq::new(seq), live }
            }
            LetterPlace::Later => PostingOutcome::Scheduled,
            LetterPlace::Outlet => PostingOutcome::Noted,
        })
    }
}

/// Writes the audit rows of letters that an operator sent, in the order in which chains are locked.
async fn audit_operator_letters(
    connection: &mut PgConnection,
    postings: &[Posting],
    decisions: &[LetterDecision],
) -> sqlx::Result<()> {
    let letters = postings.iter().map(|posting| &posting.letter).zip(decisions);
    let mut told: Vec<&NewLetter> = letters
        .filter(|(_, decision)| matches!(decision, LetterDecision::Write { .. }))
        .map(|(letter, _)| letter)
        .filter(|letter| letter.from.scope.actor().is_user())
        .collect();
    told.sort_by_key(|letter| letter.from.scope.tenant());
    for letter in told {
        set_audit_actor(connection, letter.from.scope).await?;
        let about = json!({ "agent_id": letter.to.agent, "letter_id": letter.id });
        record_act(connection, letter.from.scope, Kind::EntryPut, about).await?;
    }
    Ok(())
}

/// Sets the tenant and the actor of the audit row that follows.
async fn set_audit_actor(connection: &mut PgConnection, scope: TenantScope) -> sqlx::Result<()> {
    sqlx::query!(
        "select set_config('app.tenants', array[$1::uuid]::text, true) as tenants,
             set_config('app.actor', $2, true) as actor",
        scope.tenant().uuid(),
        scope.actor().to_string()
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}

//! Tests of the audit log against an attacker with access to the database.

use nightdesk_register::IdentityStore;
use nightdesk_register::audit::{Auditing, Fault, Kind, Verifier};
use nightdesk_store_pg::Pg;
use nightdesk_types::{Actor, Quota, TenantId, TenantScope, Timestamp};
use nightdesk_vault::WrappedKey;
use uuid::Uuid;

use crate::server::{Database, run};

const ANN: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));

/// Creates a database in which ann has done six things.
async fn database() -> (Database, Pg) {
    let database = Database::new().await;
    let store = database.store();
    let key = WrappedKey(vec![0]);
    store.create_tenant(ANN, "ann", &key).await.expect("enter a tenant");
    for number in 1..=5 {
        let scope = ANN.with_actor(Actor::Operator);
        store.create_agent(scope, &format!("a{number}")).await.expect("enter an agent");
    }
    (database, store)
}

async fn verdict(store: &Pg) -> Result<i64, Fault> {
    let chain = store.chain(ANN).await.expect("read where a chain ends");
    let mut verifier = Verifier::begin(ANN.tenant(), chain, &[], Timestamp::MAX)?;
    let deeds =
        store.audit_records(ANN, verifier.verified_seq(), 100).await.expect("read the audit log");
    deeds.iter().try_for_each(|deed| verifier.verify_next(deed))?;
    verifier.finish()
}

#[tokio::test]
async fn a_flip_a_drop_and_a_cut_are_found() {
    let cases = [
        ("select 1", Ok(6)),
        ("update audit_log set actor = 'desk' where seq = 2", Err(Fault::Changed { seq: 2 })),
        (
            "update audit_log set at = at + interval '1 microsecond' where seq = 3",
            Err(Fault::Changed { seq: 3 }),
        ),
        ("update audit_log set hash = sha256('') where seq = 6", Err(Fault::Changed { seq: 6 })),
        ("delete from audit_log where seq = 4", Err(Fault::Missing { seq: 4 })),
        ("delete from audit_log where seq > 4", Err(Fault::Cut { last: 4, head: 6 })),
    ];
    for (tampering, want) in cases {
        let (database, store) = database().await;
        run(&mut database.admin().await, tampering).await;
        assert_eq!(verdict(&store).await, want, "{tampering}");
    }
}

#[tokio::test]
async fn the_desk_may_read_its_rows_and_change_none() {
    let (database, _store) = database().await;
    let mut app = database.app().await;
    let tenants = format!("set app.tenants = '{{{}}}'", ANN.tenant());
    run(&mut app, &tenants).await;

    let rows: i64 = sqlx::query_scalar("select count(*) from audit_log")
        .fetch_one(&mut app)
        .await
        .expect("the desk reads its rows");
    assert_eq!(rows, 6);
    for forbidden in [
        "update audit_log set actor = 'desk'",
        "delete from audit_log",
        "truncate audit_log",
        "insert into audit_log select * from audit_log",
        "update audit_heads set seq = 1",
        "delete from audit_heads",
        "select tell(gen_random_uuid(), 'bound', '{}')",
        "select tell_act(gen_random_uuid(), 'bound', '{}')",
    ] {
        let done = sqlx::query(forbidden).execute(&mut app).await;
        assert!(done.is_err(), "{forbidden}");
    }
}

#[tokio::test]
async fn what_is_not_committed_is_not_told() {
    let (database, store) = database().await;
    let mut app = database.app().await;
    let add =
        "insert into agents (tenant_id, name) values ('00000000-0000-0000-0000-000000000001', 'x')";
    let tenants = format!("set app.tenants = '{{{}}}'", ANN.tenant());
    run(&mut app, &tenants).await;
    run(&mut app, &format!("begin; {add}; rollback")).await;
    assert_eq!(verdict(&store).await, Ok(6));

    // A direct insert, without any command: the log records it all the same, with the default actor.
    run(&mut app, add).await;
    assert_eq!(verdict(&store).await, Ok(7));
    let deeds = store.audit_records(ANN, 6, 1).await.expect("read the audit log");
    assert_eq!((deeds[0].actor.as_str(), deeds[0].kind.as_str()), ("desk", "agent-created"));
}

/// Returns the kinds of the rows in ann's chain after this number.
async fn kinds(store: &Pg, after: i64) -> Vec<String> {
    let deeds = store.audit_records(ANN, after, 100).await.expect("read the audit log");
    deeds.into_iter().map(|deed| deed.kind).collect()
}

/// Parks entries of ann's first agent, as the accept would.
fn parked(seqs: std::ops::Range<i64>, reason: &str) -> String {
    format!(
        "insert into inbox_parked (tenant_id, agent_id, seq, at, bot_id, chat_id, body, key_id, body_id,
             reason)
         select a.tenant_id, a.agent_id, s, now(), a.agent_id, 'c', '', 1, gen_random_uuid(), '{reason}'
         from agents a, generate_series({}, {}) as s where a.name = 'a1'",
        seqs.start,
        seqs.end - 1
    )
}

#[tokio::test]
async fn what_is_set_aside_is_told_when_it_begins() {
    let (database, store) = database().await;
    let mut app = database.app().await;
    run(&mut app, &format!("set app.tenants = '{{{}}}'", ANN.tenant())).await;
    let cases = [
        (parked(1..4, "full"), &["entries-parked"][..]),
        (parked(4..9, "full"), &[]),
        (parked(9..10, "tries"), &["entries-parked"]),
        (parked(10..11, "full"), &[]),
        (parked(11..12, "rate-limit"), &["entries-parked"]),
        (parked(12..14, "operator"), &["entry-set-aside", "entry-set-aside"]),
    ];
    let mut seen = 6;
    for (act, want) in cases {
        run(&mut app, &act).await;
        assert_eq!(kinds(&store, seen).await, want, "{act}");
        seen += i64::try_from(want.len()).unwrap();
    }
    run(&mut app, "update inbox_parked set parked_at = now() - interval '61 minutes'").await;
    run(&mut app, &parked(14..20, "full")).await;
    assert_eq!(kinds(&store, seen).await, ["entries-parked"]);
}

#[tokio::test]
async fn the_end_of_a_tenant_is_the_last_that_is_told_of_it() {
    let (database, store) = database().await;
    let mut app = database.app().await;
    run(&mut app, &format!("set app.tenants = '{{{}}}'", ANN.tenant())).await;
    run(&mut app, &parked(1..9, "full")).await;
    let erasing: &dyn nightdesk_vault::Store = &store;
    erasing.erase(ANN.with_actor(Actor::Operator)).await.expect("erase a tenant");
    while erasing.erase_texts(ANN).await.expect("erase what it wrote") > 0 {}

    assert_eq!(kinds(&store, 6).await, ["entries-parked", "tenant-erased"]);
    assert_eq!(verdict(&store).await, Ok(8));
}

#[tokio::test]
async fn acts_at_once_are_one_chain() {
    let (_database, store) = database().await;
    let acts = (0..40).map(|number| {
        let store = store.clone();
        async move { store.create_agent(ANN, &format!("at-once-{number}")).await }
    });
    let done = futures_util::future::join_all(acts).await;

    assert!(done.iter().all(Result::is_ok));
    assert_eq!(verdict(&store).await, Ok(46));
}

#[tokio::test]
async fn what_is_old_is_let_go_and_the_rest_is_still_a_chain() {
    let (database, store) = database().await;
    let mut admin = database.admin().await;
    run(&mut admin, "update audit_log set at = at - interval '401 days' where seq <= 2").await;
    nightdesk_inbox::InboxSweeper::sweep(&store).await.expect("keep the days");

    assert_eq!(store.audit_records(ANN, 0, 100).await.expect("read the audit log").len(), 4);
    assert_eq!(store.chain(ANN).await.expect("read a chain").begins.seq, 2);
    assert_eq!(verdict(&store).await, Ok(6));
}

#[tokio::test]
async fn the_store_knows_every_kind_and_no_other() {
    let (database, _store) = database().await;
    let mut admin = database.admin().await;
    let check: String = sqlx::query_scalar(
        "select pg_get_constraintdef(oid) from pg_constraint where conname = 'audit_log_known_kind'",
    )
    .fetch_one(&mut admin)
    .await
    .expect("read the catalogue");
    let known: Vec<&str> = check.split('\'').skip(1).step_by(2).collect();
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.slug()).collect();

    assert_eq!(known, kinds);
}

#[tokio::test]
async fn the_store_knows_every_quota_as_the_desk_does() {
    let (database, _store) = database().await;
    let mut admin = database.admin().await;
    for quota in Quota::ALL {
        let allowed: Option<i64> = sqlx::query_scalar("select quota_default($1)")
            .bind(quota.slug())
            .fetch_one(&mut admin)
            .await
            .expect("ask for a default");
        assert_eq!(allowed, Some(quota.default_allowed()), "{quota:?}");
    }
}

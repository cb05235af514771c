//! Tests of shelves with direct access to the database.

use std::sync::Arc;

use nightdesk_register::IdentityStore;
use nightdesk_shelf::{
    DataStore, DataWrite, SkillPatch, SkillStatus, SkillStore, TenantData, TenantSkills,
};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::SKILL_REVISIONS_KEPT_MAX;
use nightdesk_types::{Actor, TenantId, TenantScope};
use nightdesk_vault::WrappedKey;
use uuid::Uuid;

use crate::server::Database;

const ANN: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));

/// Creates a database in which ann shares skills and data.
async fn database() -> (Database, Arc<Pg>) {
    let database = Database::new().await;
    let store = Arc::new(database.store());
    let key = WrappedKey(vec![0]);
    store.create_tenant(ANN, "ann", &key).await.expect("enter a tenant");
    let (skills, data) = shelf(&store);
    for name in ["a", "b"] {
        skills.store(name, "0123456789", &SkillPatch::default()).await.expect("keep a skill");
    }
    data.write(&entry("kettle", None)).await.expect("keep data");
    (database, store)
}

fn shelf(store: &Arc<Pg>) -> (TenantSkills, TenantData) {
    let skills = TenantSkills::new(Arc::<Pg>::clone(store), ANN);
    (skills, TenantData::new(Arc::<Pg>::clone(store), ANN))
}

fn entry(content: &str, expires_at: Option<i64>) -> DataWrite {
    let expires_at = expires_at.map(Some);
    DataWrite { content: content.to_owned(), expires_at, ..DataWrite::default() }
}

async fn number(database: &Database, question: &str) -> i64 {
    let asked = sqlx::query_scalar(sqlx::AssertSqlSafe(question.to_owned()));
    asked.fetch_one(&mut database.admin().await).await.expect("a number")
}

#[tokio::test]
async fn what_is_counted_is_what_is_there() {
    const OFF_BY: &str = "select s.bytes
        - (select coalesce(sum(octet_length(source)), 0)::bigint from skill_revisions)
        - (select coalesce(sum(bytes), 0)::bigint from data_entries) from shelves s";
    let (database, store) = database().await;
    let (skills, data) = shelf(&store);
    for number in 0..SKILL_REVISIONS_KEPT_MAX + 5 {
        let source = format!("x{number}");
        skills.store("a", &source, &SkillPatch::default()).await.expect("keep a skill");
    }
    skills.update_status("b", SkillStatus::Approved).await.expect("approve");
    assert_eq!(number(&database, OFF_BY).await, 0, "revisions come and go");

    data.write(&entry("gone", Some(1))).await.expect("keep data");
    data.write(&entry("gone", Some(1))).await.expect("keep data");
    data.write(&entry("kettle", None)).await.expect("it is there");
    skills.delete("a").await.expect("remove a skill");
    assert_eq!(number(&database, OFF_BY).await, 0, "so do skills and data");
}

#[tokio::test]
async fn an_erased_tenant_leaves_no_shelf() {
    const LEFT: &str = "select (select count(*) from shelves) + (select count(*) from skills)
        + (select count(*) from skill_revisions) + (select count(*) from data_entries)";
    let (database, store) = database().await;
    assert_eq!(number(&database, LEFT).await, 6);
    let erasing: &dyn nightdesk_vault::Store = &*store;
    erasing.erase(ANN.with_actor(Actor::Operator)).await.expect("erase a tenant");
    while erasing.erase_texts(ANN).await.expect("erase what it wrote") > 0 {}

    assert_eq!(number(&database, LEFT).await, 0);
}

//! Many callers share a few statements, and a name that appears is found in time.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use nightdesk_types::limits::UNKNOWN_NAME_KEPT_FOR;
use sqlx::postgres::PgPoolOptions;

use super::*;
use crate::connect_options;

/// Names that many unproven callers claim at the same time.
const CALLERS: usize = 4_000;

#[expect(clippy::disallowed_methods, reason = "where the test server is")]
fn pool() -> PgPool {
    let url = std::env::var("NIGHTDESK_TEST_PG_ADMIN_URL")
        .expect("run this with `just test`: it starts the server this needs");
    PgPoolOptions::new().max_connections(1).connect_lazy_with(connect_options(&url, None).unwrap())
}

/// Finds the names in a list, and counts its statements.
struct CountedFinder;

static STATEMENTS: AtomicUsize = AtomicUsize::new(0);
static STORED: Mutex<Option<HashSet<String>>> = Mutex::new(None);

fn store(name: &str) {
    lock(&STORED).get_or_insert_default().insert(name.to_owned());
}

impl Finder for CountedFinder {
    type Name = String;
    type Found = String;
    const OPERATION: &'static str = "find a name";

    async fn find(
        _: &mut PgConnection,
        names: Vec<String>,
    ) -> sqlx::Result<HashMap<String, String>> {
        STATEMENTS.fetch_add(1, Ordering::Relaxed);
        // The other callers come while a statement runs.
        tokio::task::yield_now().await;
        let mut stored = lock(&STORED);
        let stored = stored.get_or_insert_default();
        let names = names.into_iter().filter(|name| stored.contains(name));
        Ok(names.map(|name| (name.clone(), name)).collect())
    }
}

#[tokio::test]
async fn thousands_of_forged_names_cost_a_few_statements() {
    let lookup = Lookup::<CountedFinder>::new(pool());
    store("genuine");

    let name = |caller: usize| {
        if caller == CALLERS / 2 { "genuine".to_owned() } else { caller.to_string() }
    };
    let found = join_all((0..CALLERS).map(|caller| lookup.find(name(caller)))).await;
    let found: Vec<_> = found.into_iter().filter_map(|found| found.unwrap()).collect();
    assert_eq!(found, ["genuine"]);
    let statements = STATEMENTS.load(Ordering::Relaxed);
    assert!(statements <= CALLERS / LOOKUP_NAMES_MAX + 3, "{statements} statements");

    let again = join_all((0..CALLERS / 2).map(|caller| lookup.find(name(caller)))).await;
    assert!(again.into_iter().all(|found| found.unwrap().is_none()));
    assert_eq!(STATEMENTS.load(Ordering::Relaxed), statements, "they are known not to exist");
}

#[tokio::test]
async fn a_name_that_is_created_elsewhere_is_found_in_time() {
    let lookup = Lookup::<CountedFinder>::new(pool());
    assert_eq!(lookup.find("new".to_owned()).await.unwrap(), None);
    store("new");
    let created_at = Instant::now();

    while lookup.find("new".to_owned()).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let late = created_at.elapsed().saturating_sub(UNKNOWN_NAME_KEPT_FOR);
    assert!(late < Duration::from_secs(1), "{late:?} too late");
}

#[tokio::test]
async fn a_name_that_is_created_here_is_found_at_once() {
    let lookup = Lookup::<CountedFinder>::new(pool());
    assert_eq!(lookup.find("own".to_owned()).await.unwrap(), None);
    store("own");
    lookup.forget_unknown(&"own".to_owned());

    assert_eq!(lookup.find("own".to_owned()).await.unwrap().as_deref(), Some("own"));
}

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use nightdesk_types::Timestamp;

use super::*;
use crate::cron::book::{Claim, FireDelivery, format_time};
use crate::cron::{FileStore, Job, MemoryStore, Schedule};

const NOW: Timestamp = Timestamp::constant(1_795_003_200, 0);

/// The promises of every store.
async fn promises(one: Arc<dyn Store>, other: Arc<dyn Store>) {
    replaces_by_the_next_version_only(&*one).await;
    one_of_many_wins(&one, &other).await;
}

async fn replaces_by_the_next_version_only(store: &dyn Store) {
    assert_eq!(store.read().await.unwrap(), Book::default(), "there is nothing at first");
    let every = Schedule::every(Duration::from_secs(20)).unwrap();
    let set = |id: &'static str| {
        let every = every.clone();
        move |book: &mut Book| book.set(Job::new(id, every.clone()), NOW)
    };
    let first = Book::default().with_change(set("a")).1.unwrap();
    let rival = Book::default().with_change(set("b")).1.unwrap();
    let second = first.with_change(set("b")).1.unwrap();

    assert!(!store.replace(second.clone()).await.unwrap(), "nothing is left out");
    assert!(store.replace(first.clone()).await.unwrap());
    assert!(!store.replace(rival).await.unwrap(), "somebody was quicker");
    assert!(!store.replace(first.clone()).await.unwrap(), "not twice either");
    assert_eq!(store.read().await.unwrap(), first);
    assert!(store.replace(second).await.unwrap());
}

async fn one_of_many_wins(one: &Arc<dyn Store>, other: &Arc<dyn Store>) {
    let due = NOW.checked_add(Duration::from_secs(20)).unwrap();
    let fire_at = format_time(due);
    let claims = (0..16).map(|number: u32| {
        let store = if number.is_multiple_of(2) { one } else { other };
        let (fire_at, fire_id) = (&fire_at, number.to_string());
        async move {
            let came = FireDelivery { job: "a", fire_at: Some(fire_at), fire_id: &fire_id };
            change(&**store, |book| book.claim(came, due)).await.unwrap()
        }
    });
    let claims = join_all(claims).await;

    let won = claims.iter().filter(|claim| matches!(claim, Claim::Won { .. })).count();
    assert_eq!((won, claims.len()), (1, 16));
}

#[tokio::test]
async fn a_book_in_memory_keeps_the_promises() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    promises(Arc::clone(&store), store).await;
}

/// Each of the two has its own handle on the lock, as two processes have.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_book_in_a_file_keeps_the_promises() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    promises(Arc::new(FileStore::at(&path)), Arc::new(FileStore::at(&path))).await;
}

#[tokio::test]
async fn a_file_outlives_whoever_died_while_writing_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let every = Schedule::every(Duration::from_secs(20)).unwrap();
    let set = |book: &mut Book| book.set(Job::new("a", every.clone()), NOW);
    change(&FileStore::at(&path), set).await.unwrap().unwrap();
    // A process that died left half of the next file, and the lock file.
    std::fs::write(folder.path().join("jobs.json.new"), "{\"version\":2,\"jo").unwrap();
    assert!(folder.path().join("jobs.json.lock").exists());

    let book = FileStore::at(&path).read().await.unwrap();
    assert_eq!((book.version(), book.live_jobs().count()), (1, 1));
    change(&FileStore::at(&path), |book| book.remove("a")).await.unwrap();
    assert_eq!(FileStore::at(&path).read().await.unwrap().version(), 2);
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    for text in ["", "no book", "{\"version\":"] {
        std::fs::write(&path, text).unwrap();
        let changed = change(&FileStore::at(&path), |book| book.remove("a")).await;
        assert!(changed.is_err(), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    let nowhere = FileStore::at(folder.path().join("none").join("jobs.json"));
    let book = Book::default().with_change(|book| {
        book.set(Job::new("a", Schedule::at(NOW)), NOW).unwrap();
    });
    let error = nowhere.replace(book.1.unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("jobs.json"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_what_jobs_carry() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json");
    let set = |book: &mut Book| book.set(Job::new("a", Schedule::at(NOW)), NOW);
    change(&FileStore::at(&path), set).await.unwrap().unwrap();

    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

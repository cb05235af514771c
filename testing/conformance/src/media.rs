//! Checks the promises of the store of files by reference.

use std::time::Duration;

use nightdesk_media::{ContentKey, MediaId, MediaLocation, MediaRecord};
use uuid::Uuid;

use super::cast::{Cast, Person};
use super::{Harness, TimedHarness};

const HOUR: Duration = Duration::from_hours(1);

fn name(number: u128) -> MediaId {
    MediaId::from_uuid(Uuid::from_u128(number))
}

fn kept(lies: MediaLocation) -> MediaRecord {
    let text = |text: &str| Some(text.to_owned());
    MediaRecord {
        mime: text("image/png"),
        filename: text("cat.png"),
        size: Some(7),
        location: lies,
    }
}

async fn keep(harness: &impl Harness, person: &Person, files: &[(MediaId, MediaRecord)]) {
    let stored = harness.media().permit_read(person.scope, person.agent, files, HOUR).await;
    stored.expect("let an agent have files");
}

async fn find(harness: &impl Harness, person: &Person, id: MediaId) -> Option<MediaRecord> {
    harness.media().find_record(person.scope, person.agent, id).await.expect("find a file")
}

/// Checks that a file is found as it was stored, by its own agent only.
pub async fn a_file_is_found_by_its_agent_alone(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let reference = "file-1".to_owned();
    let there = kept(MediaLocation::There { bot: cast.bot.id, reference });
    let location = MediaLocation::Here { key: ContentKey::random() };
    let here = MediaRecord { mime: None, filename: None, size: None, location };
    keep(harness, &ann, &[(name(1), there.clone()), (name(2), here.clone())]).await;

    assert_eq!(find(harness, &ann, name(1)).await, Some(there.clone()));
    assert_eq!(find(harness, &ann, name(2)).await, Some(here));
    assert_eq!(find(harness, &ann, name(3)).await, None);
    assert_eq!(find(harness, &bob, name(1)).await, None, "it is another tenant's");
    keep(harness, &bob, &[(name(1), there.clone())]).await;
    assert_eq!(find(harness, &bob, name(1)).await, Some(there), "now he was told of it, too");
}

/// Checks that a file exists for its stated lifetime.
pub async fn a_file_is_there_for_its_time(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    keep(harness, &ann, &[(name(1), kept(MediaLocation::Here { key: ContentKey::random() }))])
        .await;

    harness.let_pass(HOUR.saturating_sub(Duration::from_mins(1))).await;
    assert!(find(harness, &ann, name(1)).await.is_some());
    harness.let_pass(Duration::from_mins(2)).await;
    assert_eq!(find(harness, &ann, name(1)).await, None);
}

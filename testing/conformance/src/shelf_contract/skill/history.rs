//! History and author of a skill, and the token of the whole store.

use nightdesk_shelf::{SkillFilter, SkillStatus, SkillStore, SkillStoreError, content_hash};

use super::{NONE, SAMPLE, as_status, by};
use crate::shelf_contract::{Failed, Outcome, SkillHarness, must, same};

const OTHER: &str = "# Skill: sample\n# Status: Draft\n\nt:\n    emit(text=\"ho\")\ndefault: t\n";

pub(super) async fn what_it_said_before_can_be_read<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let first = store.store("here", SAMPLE, &NONE).await?;
    let second = store.store("here", OTHER, &NONE).await?;
    store.update_status("here", SkillStatus::Approved).await?;
    same!(store.load("here", Some(&first.version)).await?.source, SAMPLE, "the first");
    let then = store.load("here", Some(&second.version)).await?;
    same!(then.source, OTHER, "the second");
    same!(then.metadata.status, SkillStatus::Draft, "its status then");
    let versions = store.versions("here").await?;
    same!(versions.len(), 3, "how often it changed");
    same!(versions[2], first, "the oldest is the last");
    Ok(())
}

pub(super) async fn a_version_that_never_was_is_not_found<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    for version in ["000000000000", "", "../log", "\0"] {
        match store.load("here", Some(version)).await {
            Err(SkillStoreError::VersionNotFound { .. }) => {}
            other => return Err(Failed::because(format!("{version:?}: {other:?}"))),
        }
    }
    Ok(())
}

pub(super) async fn what_is_missing_has_no_past<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let answers = [
        store.metadata("missing").await.err(),
        store.versions("missing").await.err(),
        store.load("missing", Some("000000000000")).await.err(),
        store.update_status("missing", SkillStatus::Draft).await.err(),
    ];
    for answer in answers {
        match answer {
            Some(SkillStoreError::SkillNotFound { .. }) => {}
            other => return Err(Failed::because(format!("{other:?}"))),
        }
    }
    Ok(())
}

pub(super) async fn the_same_again_changes_nothing<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let first = store.store("here", SAMPLE, &by("perry")).await?;
    same!(store.store("here", SAMPLE, &by("perry")).await?, first, "the answer");
    let changed = store.update_status("here", SkillStatus::Approved).await?;
    same!(store.update_status("here", SkillStatus::Approved).await?, changed, "the answer");
    same!(store.versions("here").await?.len(), 2, "how often it changed");
    Ok(())
}

pub(super) async fn a_deleted_name_begins_anew<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let old = store.store("here", SAMPLE, &by("perry")).await?;
    store.store("here", OTHER, &NONE).await?;
    store.delete("here").await?;
    must!(store.versions("here").await.is_err(), "it has a past");
    store.store("here", OTHER, &by("olsen")).await?;
    same!(store.versions("here").await?.len(), 1, "how often it changed");
    must!(store.load("here", Some(&old.version)).await.is_err(), "what was removed is read");
    same!(store.metadata("here").await?.author.as_deref(), Some("olsen"), "whose it is");
    Ok(())
}

pub(super) async fn the_token_moves_with_every_change<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let Some(empty) = store.version().await? else {
        return Ok(());
    };
    let mut seen = vec![empty];
    store.store("here", OTHER, &NONE).await?;
    seen.extend(store.version().await?);
    store.store("here", &OTHER.replace("ho", "ha"), &NONE).await?;
    seen.extend(store.version().await?);
    store.update_status("here", SkillStatus::Approved).await?;
    seen.extend(store.version().await?);
    store.store("there", OTHER, &NONE).await?;
    seen.extend(store.version().await?);
    store.delete("here").await?;
    seen.extend(store.version().await?);
    same!(seen.len(), 6, "tokens");
    for (at, token) in seen.iter().enumerate() {
        must!(!seen[..at].contains(token), "after change {at} the token is an old one");
    }
    Ok(())
}

pub(super) async fn the_token_stays_when_nothing_changes<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", OTHER, &NONE).await?;
    let token = store.version().await?;
    store.store("here", OTHER, &NONE).await?;
    store.query(&SkillFilter::default()).await?;
    store.load("here", None).await?;
    same!(store.version().await?, token, "the token");
    Ok(())
}

/// An edit that preserves the length and the time of a skill changes the token.
pub(super) async fn the_token_moves_when_only_bytes_do<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let first = store.store("here", OTHER, &NONE).await?;
    let token = store.version().await?;
    let edited = OTHER.replace("ho", "ha");
    if !harness.edit_behind(&store, "here", &edited).await {
        return Ok(());
    }
    must!(store.version().await? != token, "the token did not move");
    same!(store.load("here", None).await?.source, edited, "the bytes");
    store.update_status("here", SkillStatus::Approved).await?;
    same!(store.load("here", Some(&first.version)).await?.source, OTHER, "what it was");
    same!(store.versions("here").await?.len(), 3, "how often it changed");
    Ok(())
}

pub(super) async fn a_skill_stays_its_first_authors<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &by("perry")).await?;
    match store.store("here", OTHER, &by("olsen")).await {
        Err(SkillStoreError::StorageConflict { .. }) => {}
        other => return Err(Failed::because(format!("{other:?}"))),
    }
    same!(store.load("here", None).await?.source, SAMPLE, "the bytes");
    store.store("here", OTHER, &by("perry")).await?;
    Ok(())
}

pub(super) async fn an_author_who_is_not_named_is_kept<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &by("perry")).await?;
    store.store("here", OTHER, &NONE).await?;
    store.update_status("here", SkillStatus::Approved).await?;
    same!(store.metadata("here").await?.author.as_deref(), Some("perry"), "whose it is");
    Ok(())
}

pub(super) async fn an_overwrite_stores_the_bytes_as_handed<H: SkillHarness>(
    harness: &H,
) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let approved = OTHER.replace("Draft", "Approved");
    let bare = "t:\n    emit(text=\"ho\")\n".to_owned();
    let bodies = [
        (approved.clone(), SkillStatus::Approved),
        (OTHER.to_owned(), SkillStatus::Draft),
        (approved, SkillStatus::Approved),
        (bare, SkillStatus::Draft),
    ];
    for (body, status) in bodies {
        let stored = store.store("here", &body, &NONE).await?;
        same!(stored.status, status, "the status");
        same!(stored.content_hash, content_hash(&body), "the digest");
        same!(store.load("here", None).await?.source, body, "the bytes");
    }
    store.update_status("here", SkillStatus::Disabled).await?;
    same!(store.store("here", SAMPLE, &NONE).await?.status, SkillStatus::Draft, "the status");
    Ok(())
}

pub(super) async fn a_patch_decides_the_status<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let patched = store.store("here", OTHER, &as_status(SkillStatus::Approved)).await?;
    same!(patched.status, SkillStatus::Approved, "the status");
    same!(patched.previous_status, Some(SkillStatus::Draft), "the status before");
    same!(store.metadata("here").await?.status, SkillStatus::Approved, "the status it has");
    Ok(())
}

pub(super) async fn changes_at_once_are_all_kept<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let bodies: Vec<String> = (0..4).map(|number| format!("{OTHER}# {number}\n")).collect();
    let (a, b, c, d) = tokio::join!(
        store.store("here", &bodies[0], &NONE),
        store.store("here", &bodies[1], &NONE),
        store.store("here", &bodies[2], &NONE),
        store.store("here", &bodies[3], &NONE),
    );
    for (stored, body) in [a?, b?, c?, d?].iter().zip(&bodies) {
        same!(store.load("here", Some(&stored.version)).await?.source, *body, "the bytes");
    }
    same!(store.versions("here").await?.len(), 4, "how often it changed");
    Ok(())
}

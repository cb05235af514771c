//! Bytes are stored unchanged and identified by their digest.

use nightdesk_shelf::{Header, SkillStatus, SkillStore, SkillStoreError, content_hash, version_of};
use nightdesk_types::limits::SKILL_BYTES_MAX;
use serde_json::Value;

use super::{NONE, SAMPLE};
use crate::shelf_contract::{Failed, Outcome, SkillHarness, must, same};

pub(super) async fn the_digest_is_of_the_bytes_as_kept<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let changed = store.update_status("here", SkillStatus::Approved).await?;
    let loaded = store.load("here", None).await?;
    let digest = content_hash(&loaded.source);
    same!(loaded.content_hash, digest, "the digest");
    same!(loaded.version, version_of(&digest), "the version");
    same!(changed.content_hash, digest, "the digest that was answered");
    same!(changed.version, loaded.version, "the version that was answered");
    Ok(())
}

pub(super) async fn no_byte_is_changed<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let bodies =
        ["", "\n", "x", "# Skill: a\r\n# Status: Approved\r\nx\r\n", "\u{feff}x \t\n\n", "ä 🙂"];
    for (number, body) in bodies.into_iter().enumerate() {
        let name = format!("n{number}");
        store.store(&name, body, &NONE).await?;
        same!(store.load(&name, None).await?.source, body, "the bytes");
    }
    Ok(())
}

pub(super) async fn a_status_is_in_the_bytes<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    for (name, body) in [("with", SAMPLE), ("without", "t:\n    emit(text=\"hi\")\n")] {
        store.store(name, body, &NONE).await?;
        for status in [SkillStatus::Approved, SkillStatus::Disabled, SkillStatus::Draft] {
            store.update_status(name, status).await?;
            let loaded = store.load(name, None).await?;
            same!(loaded.metadata.status, status, "the status");
            same!(
                Header::parse(&loaded.source).declared_status(),
                status,
                "the status in the bytes"
            );
            must!(loaded.source.ends_with("emit(text=\"hi\")\n") || name == "with", "the rest");
        }
    }
    Ok(())
}

pub(super) async fn a_name_is_plain<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    for name in ["", "../up", "a/b", ".hidden", "a b", "a\0b", "é"] {
        match store.store(name, SAMPLE, &NONE).await {
            Err(SkillStoreError::StorageConflict { .. }) => {}
            other => return Err(Failed::because(format!("{name:?}: {other:?}"))),
        }
        match store.load(name, None).await {
            Err(SkillStoreError::SkillNotFound { .. }) => {}
            other => return Err(Failed::because(format!("{name:?}: {other:?}"))),
        }
    }
    store.store("A.b-c_1", SAMPLE, &NONE).await?;
    Ok(())
}

pub(super) async fn a_skill_has_a_bound<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let fits = "x".repeat(SKILL_BYTES_MAX);
    store.store("fits", &fits, &NONE).await?;
    store.update_status("fits", SkillStatus::Approved).await?;
    must!(store.load("fits", None).await?.source.ends_with(&fits), "the largest is cut");
    match store.store("long", &(fits + "x"), &NONE).await {
        Err(SkillStoreError::StorageConflict { .. }) => Ok(()),
        other => Err(Failed::because(format!("{:?}", other.map(|info| info.version)))),
    }
}

pub(super) async fn what_is_not_set_is_left_out<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", "t:\n", &NONE).await?;
    let meta = serde_json::to_value(store.metadata("here").await?)?;
    let version = serde_json::to_value(&store.versions("here").await?[0])?;
    for said in [&meta, &version] {
        let nulls = said.as_object().map_or(0, |o| o.values().filter(|v| v.is_null()).count());
        same!(nulls, 0, "nulls");
    }
    for key in ["description", "tags", "vars", "metadata_bag", "type"] {
        same!(meta.get(key), None::<&Value>, "what the bytes do not say");
    }
    same!(version.get("previous_status"), None::<&Value>, "the status before there was one");
    Ok(())
}

pub(super) async fn the_header_is_read<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let body = "# Skill: x\n# Description: d\n# Tags: a, b\n# Vars: V, W=1\n# Type: data\nt:\n";
    store.store("here", body, &NONE).await?;
    let meta = store.metadata("here").await?;
    let listed = store.query(&<_>::default()).await?;
    same!(listed, vec![meta.clone()], "what is listed");
    same!(meta.description.as_deref(), Some("d"), "the description");
    same!(meta.tags, Some(vec!["a".to_owned(), "b".to_owned()]), "the tags");
    same!(meta.vars, Some(vec!["V".to_owned(), "W".to_owned()]), "the vars");
    Ok(())
}

//! The cases of the runtime's own suite.

use nightdesk_shelf::{
    ConnectorType, OneOrMany, SkillFeatures, SkillFilter, SkillStatus, SkillStore, SkillStoreError,
    StoreCapabilities,
};

use super::{NONE, SAMPLE};
use crate::shelf_contract::{Failed, Outcome, SkillHarness, is_version, must, same};

fn capabilities<H: SkillHarness>() -> StoreCapabilities<SkillFeatures> {
    H::Store::static_capabilities()
}

pub(super) async fn is_of_its_contract<H: SkillHarness>(_: &H) -> Outcome {
    same!(capabilities::<H>().connector_type, ConnectorType::SkillStore, "its contract");
    Ok(())
}

pub(super) async fn names_itself_and_its_contract<H: SkillHarness>(_: &H) -> Outcome {
    let said = capabilities::<H>();
    must!(!said.implementation.is_empty(), "the implementation has no name");
    must!(is_version(&said.contract_version), "{:?} is no version", said.contract_version);
    Ok(())
}

pub(super) async fn says_what_it_can_do<H: SkillHarness>(_: &H) -> Outcome {
    let features = serde_json::to_value(capabilities::<H>().features)?;
    let features = features.as_object().ok_or_else(|| Failed::because("no features"))?;
    must!(!features.is_empty(), "no features");
    must!(features.values().all(serde_json::Value::is_boolean), "a feature is not yes or no");
    Ok(())
}

pub(super) async fn says_so_without_a_store<H: SkillHarness>(_: &H) -> Outcome {
    same!(capabilities::<H>(), capabilities::<H>(), "what it says of itself");
    Ok(())
}

pub(super) async fn load_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    same!(store.load("here", None).await?.name, "here", "the name");
    Ok(())
}

pub(super) async fn query_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let found = store.query(&SkillFilter::default()).await?;
    same!(found.len(), 1, "how many there are");
    same!(found[0].name, "here", "the name");
    Ok(())
}

pub(super) async fn metadata_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let meta = store.metadata("here").await?;
    same!((meta.name.as_str(), meta.status), ("here", SkillStatus::Draft), "what is known");
    Ok(())
}

pub(super) async fn versions_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let stored = store.store("here", SAMPLE, &NONE).await?;
    same!(store.versions("here").await?, vec![stored], "what became of it");
    Ok(())
}

pub(super) async fn store_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let first = store.store("here", SAMPLE, &NONE).await?;
    let second = store.store("here", &format!("{SAMPLE}# more\n"), &NONE).await?;
    must!(first.version != second.version, "other bytes have the same version");
    Ok(())
}

pub(super) async fn delete_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    store.delete("here").await?;
    must!(store.load("here", None).await.is_err(), "it is still loaded");
    must!(store.query(&SkillFilter::default()).await?.is_empty(), "it is still listed");
    Ok(())
}

pub(super) async fn update_status_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let changed = store.update_status("here", SkillStatus::Disabled).await?;
    same!(changed.status, SkillStatus::Disabled, "the status");
    same!(store.metadata("here").await?.status, SkillStatus::Disabled, "the status it has");
    Ok(())
}

pub(super) async fn manifest_is_there<H: SkillHarness>(harness: &H) -> Outcome {
    let manifest = harness.fresh().await.manifest().await?;
    must!(!manifest.manifest.kind.is_empty(), "it does not say what it keeps skills in");
    must!(!manifest.capabilities_version.is_empty(), "what it can do has no version");
    Ok(())
}

pub(super) async fn an_empty_store_has_no_skills<H: SkillHarness>(harness: &H) -> Outcome {
    let found = harness.fresh().await.query(&SkillFilter::default()).await?;
    must!(found.is_empty(), "there are {found:?}");
    Ok(())
}

pub(super) async fn a_store_says_what_was_stored<H: SkillHarness>(harness: &H) -> Outcome {
    let stored = harness.fresh().await.store("other-name", SAMPLE, &NONE).await?;
    same!(stored.name, "other-name", "the name");
    must!(!stored.version.is_empty(), "no version");
    must!(is_hex(&stored.content_hash), "{:?} is no digest", stored.content_hash);
    must!(stored.changed_at > 0, "no time");
    Ok(())
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) async fn what_was_stored_is_loaded<H: SkillHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.store("other-name", SAMPLE, &NONE).await?;
    let loaded = store.load("other-name", None).await?;
    same!(loaded.source, SAMPLE, "the bytes");
    must!(!loaded.content_hash.is_empty(), "no digest");
    same!(loaded.metadata.status, SkillStatus::Draft, "the status");
    Ok(())
}

pub(super) async fn a_missing_skill_is_not_loaded<H: SkillHarness>(harness: &H) -> Outcome {
    match harness.fresh().await.load("missing", None).await {
        Err(SkillStoreError::SkillNotFound { skill_name }) if skill_name == "missing" => Ok(()),
        other => Err(Failed::because(format!("{other:?}"))),
    }
}

pub(super) async fn a_missing_skill_is_not_deleted<H: SkillHarness>(harness: &H) -> Outcome {
    match harness.fresh().await.delete("missing").await {
        Err(SkillStoreError::SkillNotFound { .. }) => Ok(()),
        other => Err(Failed::because(format!("{other:?}"))),
    }
}

pub(super) async fn what_is_missing_is_said_in_the_words_of_the_contract<H: SkillHarness>(
    harness: &H,
) -> Outcome {
    let Err(error) = harness.fresh().await.load("missing", None).await else {
        return Err(Failed::because("it is there"));
    };
    same!(error.class(), "SkillNotFoundError", "the class");
    same!(error.connector_type().as_str(), "skill_store", "the contract");
    Ok(())
}

pub(super) async fn a_change_of_status_says_what_it_was<H: SkillHarness>(harness: &H) -> Outcome {
    if !capabilities::<H>().features.supports_audit_trail {
        return Ok(());
    }
    let store = harness.fresh().await;
    store.store("here", SAMPLE, &NONE).await?;
    let changed = store.update_status("here", SkillStatus::Approved).await?;
    same!(changed.previous_status, Some(SkillStatus::Draft), "the status before");
    Ok(())
}

pub(super) async fn a_status_is_told_from_another<H: SkillHarness>(harness: &H) -> Outcome {
    if !capabilities::<H>().features.supports_writes {
        return Ok(());
    }
    let store = harness.fresh().await;
    store.store("one", SAMPLE, &NONE).await?;
    store.store("two", SAMPLE, &NONE).await?;
    store.update_status("two", SkillStatus::Approved).await?;
    let status = Some(OneOrMany::One(SkillStatus::Approved));
    let found = store.query(&SkillFilter { status, ..<_>::default() }).await?;
    same!(found.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["two"], "approved");
    Ok(())
}

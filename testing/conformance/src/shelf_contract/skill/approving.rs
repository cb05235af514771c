//! In secured mode only the key approves.

use nightdesk_shelf::approval::sign::SigningKey;
use nightdesk_shelf::{PublicKey, SkillStatus, SkillStore, SkillStoreError};

use super::{NONE, as_status};
use crate::shelf_contract::{Failed, Outcome, SkillHarness, must, same};

const BODY: &str = "# Skill: v3demo\n# Status: Draft\n# Tags: one, two\nm:\n    emit(text=\"a   b\")\ndefault: m\n";

/// The runtime's own signature of these bytes with this key.
const VECTOR: &str = "# Status: Approved v3:8el1ezZJ0pgh0HQ6fHNiRa6hqEwaObriKVoNsig6RhVoSfUUEuZ3fERMQJtp7VlIHDvA6MQ9Vv9bApVUnuWQAQ";
const VECTOR_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n";

pub(super) async fn an_approval_without_a_signature_is_a_draft<H: SkillHarness>(
    harness: &H,
) -> Outcome {
    let Some(store) = harness.secured(SigningKey::generate().public()).await else {
        return Ok(());
    };
    let claimed = BODY.replace("Draft", "Approved");
    same!(store.store("said", &claimed, &NONE).await?.status, SkillStatus::Draft, "the status");
    same!(store.load("said", None).await?.source, BODY, "the bytes");
    let wished = store.store("wished", BODY, &as_status(SkillStatus::Approved)).await?;
    same!(wished.status, SkillStatus::Draft, "the status");
    let forged = BODY.replace("Draft", &format!("Approved v3:{}", "A".repeat(86)));
    same!(store.store("forged", &forged, &NONE).await?.status, SkillStatus::Draft, "the status");
    Ok(())
}

pub(super) async fn nobody_approves_without_a_signature<H: SkillHarness>(harness: &H) -> Outcome {
    let Some(store) = harness.secured(SigningKey::generate().public()).await else {
        return Ok(());
    };
    store.store("here", BODY, &NONE).await?;
    match store.update_status("here", SkillStatus::Approved).await {
        Err(SkillStoreError::ApprovalRejected { .. }) => {}
        other => return Err(Failed::because(format!("{other:?}"))),
    }
    same!(store.metadata("here").await?.status, SkillStatus::Draft, "the status");
    Ok(())
}

pub(super) async fn a_signature_is_kept<H: SkillHarness>(harness: &H) -> Outcome {
    let key = SigningKey::generate();
    let Some(store) = harness.secured(key.public()).await else {
        return Ok(());
    };
    let signed = key.approve(BODY);
    same!(store.store("here", &signed, &NONE).await?.status, SkillStatus::Approved, "the status");
    store.update_status("here", SkillStatus::Approved).await?;
    same!(store.load("here", None).await?.source, signed, "the bytes");
    let waiting = signed.replace("Approved", "Draft");
    store.store("waiting", &waiting, &NONE).await?;
    store.update_status("waiting", SkillStatus::Approved).await?;
    same!(store.load("waiting", None).await?.source, signed, "the bytes of one that waited");
    Ok(())
}

pub(super) async fn an_edit_ends_an_approval<H: SkillHarness>(harness: &H) -> Outcome {
    let key = SigningKey::generate();
    let Some(store) = harness.secured(key.public()).await else {
        return Ok(());
    };
    let signed = key.approve(BODY);
    store.store("here", &signed, &NONE).await?;
    let edited = store.store("here", &signed.replace("a   b", "b"), &NONE).await?;
    same!(edited.status, SkillStatus::Draft, "the status");
    same!(edited.previous_status, Some(SkillStatus::Approved), "the status before");
    must!(!store.load("here", None).await?.source.contains("v3:"), "the signature stayed");
    Ok(())
}

pub(super) async fn tags_may_change_without_a_signature<H: SkillHarness>(harness: &H) -> Outcome {
    let key = SigningKey::generate();
    let Some(store) = harness.secured(key.public()).await else {
        return Ok(());
    };
    let signed = key.approve(BODY);
    store.store("here", &signed, &NONE).await?;
    let filed = store.store("here", &signed.replace("one, two", "three"), &NONE).await?;
    same!(filed.status, SkillStatus::Approved, "the status");
    Ok(())
}

pub(super) async fn what_was_disabled_is_signed_again<H: SkillHarness>(harness: &H) -> Outcome {
    let key = SigningKey::generate();
    let Some(store) = harness.secured(key.public()).await else {
        return Ok(());
    };
    store.store("here", &key.approve(BODY), &NONE).await?;
    store.update_status("here", SkillStatus::Disabled).await?;
    must!(
        store.update_status("here", SkillStatus::Approved).await.is_err(),
        "what was disabled was approved by nobody"
    );
    let again = key.approve(&store.load("here", None).await?.source);
    let again = store.store("here", &again, &as_status(SkillStatus::Approved)).await?;
    same!(again.status, SkillStatus::Approved, "the status");
    Ok(())
}

pub(super) async fn the_vector_of_the_runtime_is_approved<H: SkillHarness>(harness: &H) -> Outcome {
    let key =
        PublicKey::from_pem(VECTOR_KEY).map_err(|error| Failed::because(error.to_string()))?;
    let Some(store) = harness.secured(key).await else {
        return Ok(());
    };
    for (name, ends) in [("lf", "\n"), ("crlf", "\r\n")] {
        let signed = BODY.replace("# Status: Draft", VECTOR).replace('\n', ends);
        let stored = store.store(name, &signed, &NONE).await?;
        same!(stored.status, SkillStatus::Approved, "the status");
        same!(store.load(name, None).await?.source, signed, "the bytes");
    }
    Ok(())
}

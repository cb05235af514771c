//! The cases of the runtime's own suite.

use nightdesk_shelf::{ConnectorType, DataFeatures, DataStore, QueryFilters, StoreCapabilities};

use super::{words, write};
use crate::shelf_contract::{DataHarness, Failed, Outcome, is_version, must, same};

fn capabilities<H: DataHarness>() -> StoreCapabilities<DataFeatures> {
    H::Store::static_capabilities()
}

pub(super) async fn is_of_its_contract<H: DataHarness>(_: &H) -> Outcome {
    same!(capabilities::<H>().connector_type, ConnectorType::DataStore, "its contract");
    Ok(())
}

pub(super) async fn names_itself_and_its_contract<H: DataHarness>(_: &H) -> Outcome {
    let said = capabilities::<H>();
    must!(!said.implementation.is_empty(), "the implementation has no name");
    let version = said.contract_version;
    must!(is_version(&version), "{version:?} is no version");
    Ok(())
}

pub(super) async fn says_what_it_can_do<H: DataHarness>(_: &H) -> Outcome {
    let features = serde_json::to_value(capabilities::<H>().features)?;
    let features = features.as_object().ok_or_else(|| Failed::because("no features"))?;
    must!(!features.is_empty(), "no features");
    must!(features.values().all(serde_json::Value::is_boolean), "a feature is not yes or no");
    Ok(())
}

pub(super) async fn says_so_without_a_store<H: DataHarness>(_: &H) -> Outcome {
    same!(capabilities::<H>(), capabilities::<H>(), "what it says of itself");
    Ok(())
}

pub(super) async fn query_is_there<H: DataHarness>(harness: &H) -> Outcome {
    let found = harness.fresh().await.query(&words("anything")).await?;
    must!(found.is_empty(), "an empty store found {found:?}");
    Ok(())
}

pub(super) async fn manifest_is_there<H: DataHarness>(harness: &H) -> Outcome {
    let manifest = harness.fresh().await.manifest().await?;
    must!(!manifest.manifest.kind.is_empty(), "it does not say what it keeps data in");
    must!(!manifest.capabilities_version.is_empty(), "what it can do has no version");
    Ok(())
}

pub(super) async fn what_is_found_has_an_id_and_a_summary<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&write("the kettle is blue")).await?;
    let found = store.query(&words("kettle")).await?;
    same!(found.len(), 1, "how many were found");
    must!(!found[0].id.is_empty() && !found[0].summary.is_empty(), "{:?}", found[0]);
    Ok(())
}

pub(super) async fn declared_modes_answer<H: DataHarness>(harness: &H) -> Outcome {
    let features = capabilities::<H>().features;
    let store = harness.fresh().await;
    let modes = [("semantic", features.supports_semantic), ("rerank", features.supports_rerank)];
    for (mode, _) in modes.iter().filter(|(_, declared)| *declared) {
        let mode = Some((*mode).to_owned());
        store.query(&QueryFilters { mode, ..words("kettle") }).await?;
    }
    Ok(())
}

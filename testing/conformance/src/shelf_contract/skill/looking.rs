//! Skills are found by their header, and listed for their audience.

use nightdesk_shelf::{
    Approval, Audience, Catalogue, CatalogueFilter, CatalogueResponse, SkillEntry, SkillFilter,
    SkillStore, SkillStoreError, catalogue, dependents,
};
use serde_json::json;

use super::{NONE, by};
use crate::shelf_contract::{Failed, Outcome, SkillHarness, must, same};

const TOLD: &str = "# Status: Approved\n# Tags: x, y\n# Output: agent: perry\nt:\n";
const DONE: &str = "# Status: Approved\n# Tags: x\n# Vars: V\nt:\n    &told\n";
const BY_ITSELF: &str = "# Status: Approved\n# Triggers: cron: 0 9 * * *\nt:\n";
const DRAFT: &str = "# Status: Draft\n# Type: data\nt:\n";

async fn filled<H: SkillHarness>(harness: &H) -> Result<H::Store, Failed> {
    let store = harness.fresh().await;
    store.store("told", TOLD, &by("perry")).await?;
    store.store("done", DONE, &by("olsen")).await?;
    store.store("by-itself", BY_ITSELF, &NONE).await?;
    store.store("draft", DRAFT, &NONE).await?;
    Ok(store)
}

async fn names(store: &dyn SkillStore, filter: serde_json::Value) -> Result<Vec<String>, Failed> {
    let filter: SkillFilter = serde_json::from_value(filter)?;
    Ok(store.query(&filter).await?.into_iter().map(|skill| skill.name).collect())
}

pub(super) async fn every_filter_counts<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    let updated = store.metadata("told").await?.updated_at;
    let cases = [
        (json!({ "status": "Draft" }), vec!["draft"]),
        (json!({ "status": ["Draft", "Disabled"] }), vec!["draft"]),
        (json!({ "type": "data" }), vec!["draft"]),
        (json!({ "author": "perry" }), vec!["told"]),
        (json!({ "name_pattern": "^d" }), vec!["done", "draft"]),
        (json!({ "since": updated + 1_000_000 }), vec![]),
        (json!({ "limit": 1 }), vec!["by-itself"]),
    ];
    for (filter, want) in cases {
        let what = filter.to_string();
        let found = names(&store, filter).await?;
        must!(found == want, "{what}: {found:?}");
    }
    if H::Store::static_capabilities().features.supports_tag_filter {
        same!(names(&store, json!({ "tag": "x" })).await?, ["done", "told"], "one tag");
        same!(names(&store, json!({ "tag": ["x", "y"] })).await?, ["told"], "both tags");
    }
    Ok(())
}

pub(super) async fn a_page_needs_no_length<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    same!(names(&store, json!({ "offset": 2 })).await?, ["draft", "told"], "the rest");
    same!(names(&store, json!({ "offset": 1, "limit": 2 })).await?, ["done", "draft"], "a page");
    same!(names(&store, json!({ "offset": 9 })).await?, [""; 0], "nothing is left");
    Ok(())
}

pub(super) async fn an_unknown_word_is_not_looked_at<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    same!(names(&store, json!({ "unheard_of": [1] })).await?.len(), 4, "how many there are");
    Ok(())
}

pub(super) async fn a_pattern_that_is_none_is_refused<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    let filter = SkillFilter { name_pattern: Some("(".to_owned()), ..<_>::default() };
    match store.query(&filter).await {
        Err(SkillStoreError::Query { .. }) => Ok(()),
        other => Err(Failed::because(format!("{other:?}"))),
    }
}

async fn listed(
    store: &dyn SkillStore,
    filter: &CatalogueFilter,
    seen: Option<&str>,
) -> Result<CatalogueResponse, Failed> {
    Ok(catalogue(store, &Approval::Unsecured, filter, seen).await?)
}

async fn full(store: &dyn SkillStore, filter: &CatalogueFilter) -> Result<Catalogue, Failed> {
    match listed(store, filter, None).await? {
        CatalogueResponse::Full(catalogue) => Ok(catalogue),
        CatalogueResponse::NotModified { .. } => Err(Failed::because("not told at all")),
    }
}

fn named(entries: Option<&Vec<SkillEntry>>) -> Option<Vec<&str>> {
    entries.map(|entries| entries.iter().map(|entry| entry.name.as_str()).collect())
}

pub(super) async fn the_catalogue_is_grouped<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    let agents = full(&store, &CatalogueFilter::default()).await?;
    same!(named(agents.receives.as_ref()), Some(vec!["told"]), "what it is told");
    same!(named(agents.skills.as_ref()), Some(vec!["done"]), "what it can do");
    same!(named(agents.headless.as_ref()), None, "what runs by itself");
    let headless = CatalogueFilter { audience: Audience::Headless, ..<_>::default() };
    let headless = full(&store, &headless).await?;
    same!(named(headless.headless.as_ref()), Some(vec!["by-itself"]), "what runs by itself");
    same!(named(headless.skills.as_ref()), None, "what it can do");
    let entries = agents.skills.unwrap_or_default();
    must!(entries.iter().all(|entry| entry.gate_ok), "what is approved may not be run");
    same!(entries[0].author.as_deref(), Some("olsen"), "whose it is");
    Ok(())
}

pub(super) async fn the_catalogue_is_not_told_twice<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    let filter = CatalogueFilter::default();
    let Some(seen) = full(&store, &filter).await?.catalog_version else {
        return Ok(());
    };
    let again = listed(&store, &filter, Some(&seen)).await?;
    must!(matches!(again, CatalogueResponse::NotModified { .. }), "told again: {again:?}");
    store.store("done", &DONE.replace('V', "W"), &NONE).await?;
    let news = listed(&store, &filter, Some(&seen)).await?;
    must!(matches!(news, CatalogueResponse::Full(_)), "an edit is not told");
    Ok(())
}

pub(super) async fn another_filter_is_another_catalogue<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    let seen = full(&store, &CatalogueFilter::default()).await?.catalog_version;
    let other = CatalogueFilter { audience: Audience::All, ..<_>::default() };
    let answer = listed(&store, &other, seen.as_deref()).await?;
    must!(matches!(answer, CatalogueResponse::Full(_)), "what was never seen is not told");
    Ok(())
}

pub(super) async fn who_mentions_a_skill_is_found<H: SkillHarness>(harness: &H) -> Outcome {
    let store = filled(harness).await?;
    same!(dependents(&store, "told").await?, ["done"], "who mentions it");
    same!(dependents(&store, "by-itself").await?, [""; 0], "who mentions it");
    Ok(())
}

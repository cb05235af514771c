//! Queries return exactly the requested entries: no filter is dropped.

use nightdesk_shelf::{DataStore, DataStoreError, DataWrite, QueryFilters};
use serde_json::{Value, json};

use super::{words, write};
use crate::shelf_contract::{DataHarness, Failed, Outcome, must, same};

fn filed(content: &str, tags: &[&str]) -> DataWrite {
    let tags = Some(tags.iter().map(|&tag| tag.to_owned()).collect());
    DataWrite { tags, ..write(content) }
}

fn filters(value: Value) -> Result<QueryFilters, Failed> {
    Ok(serde_json::from_value(value)?)
}

async fn found(store: &dyn DataStore, asked: Value) -> Result<Vec<String>, Failed> {
    let found = store.query(&filters(asked)?).await?;
    let mut found: Vec<_> = found.into_iter().map(|entry| entry.summary).collect();
    found.sort();
    Ok(found)
}

pub(super) async fn every_word_must_be_there<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&write("the blue kettle")).await?;
    store.write(&write("the red kettle")).await?;
    let cases = [
        ("kettle", vec!["the blue kettle", "the red kettle"]),
        ("KETTLE blue", vec!["the blue kettle"]),
        ("blue red", vec![]),
        ("blu", vec![]),
        ("kettle' | ! & ( :*", vec!["the blue kettle", "the red kettle"]),
    ];
    for (query, want) in cases {
        let answer = found(&store, json!({ "query": query })).await?;
        must!(answer == want, "{query:?}: {answer:?}");
    }
    let scored = store.query(&words("kettle")).await?;
    let range = store.manifest().await?.manifest.score_range;
    if let Some((low, high)) = range {
        let fits = |score: f64| (low..=high).contains(&score);
        must!(scored.iter().all(|entry| entry.score.is_some_and(fits)), "{scored:?}");
    }
    Ok(())
}

pub(super) async fn nothing_found_is_an_answer<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&write("the blue kettle")).await?;
    same!(store.query(&words("teapot")).await?, [], "what was found");
    Ok(())
}

pub(super) async fn a_tag_is_any_of_those<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&filed("kettle one", &["a", "b"])).await?;
    store.write(&filed("kettle two", &["c"])).await?;
    store.write(&write("kettle three")).await?;
    let cases = [
        (json!("a"), vec!["kettle one"]),
        (json!(["a", "c"]), vec!["kettle one", "kettle two"]),
        (json!([]), vec![]),
        (json!("d"), vec![]),
    ];
    for (tags, want) in cases {
        for query in ["kettle", ""] {
            let asked = json!({ "query": query, "domain_tags": tags });
            let answer = found(&store, asked).await?;
            must!(answer == want, "{tags} with {query:?}: {answer:?}");
        }
    }
    Ok(())
}

/// A store that names a filter and drops it returns entries that the caller must not see.
pub(super) async fn every_filter_it_names_counts<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&write("kettle")).await?;
    let supported = store.manifest().await?.manifest.supported_filters.unwrap_or_default();
    for filter in supported {
        for value in [json!("nobody has this"), json!(true)] {
            let asked = json!({ "query": "kettle", filter.as_str(): value });
            match store.query(&filters(asked)?).await {
                Ok(found) => must!(found.is_empty(), "{filter} is named and not kept"),
                // The store may also reject a value of the wrong type.
                Err(DataStoreError::Query { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

pub(super) async fn a_filter_it_does_not_keep_is_refused<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let kept = store.manifest().await?.manifest.supported_filters.unwrap_or_default();
    let asked = filters(json!({ "query": "kettle", "tenant_of_another": "x" }))?;
    match store.query(&asked).await {
        Err(DataStoreError::UnsupportedFilter { unsupported, supported, substrate }) => {
            same!(unsupported, ["tenant_of_another"], "what is not kept");
            same!(supported, kept, "what is kept");
            must!(!substrate.is_empty(), "nobody says so");
            Ok(())
        }
        other => Err(Failed::because(format!("{other:?}"))),
    }
}

pub(super) async fn only_true_lets_a_filter_go<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&write("kettle")).await?;
    for (word, passes) in [(json!(true), true), (json!("true"), false), (json!(1), false)] {
        let asked = json!({ "query": "kettle", "odd": 1, "permissive_filters": word });
        let answer = store.query(&filters(asked)?).await;
        must!(answer.is_ok() == passes, "{word}: {answer:?}");
    }
    Ok(())
}

pub(super) async fn a_mode_it_does_not_have_is_refused<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let asked = filters(json!({ "query": "kettle", "mode": "by-smell" }))?;
    match store.query(&asked).await {
        Err(DataStoreError::Query { .. }) => Ok(()),
        other => Err(Failed::because(format!("{other:?}"))),
    }
}

pub(super) async fn no_more_are_answered_than_asked_for<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    for number in 0..12 {
        store.write(&write(&format!("kettle {number}"))).await?;
    }
    same!(store.query(&words("kettle")).await?.len(), 10, "how many if nothing is said");
    let asked = |limit| QueryFilters { limit: Some(limit), ..words("kettle") };
    same!(store.query(&asked(3)).await?.len(), 3, "how many of three");
    same!(store.query(&asked(usize::MAX)).await?.len(), 12, "how many of very many");
    same!(store.query(&asked(0)).await?.len(), 0, "how many of none");
    Ok(())
}

pub(super) async fn without_words_the_newest_are_meant<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    store.write(&write("one")).await?;
    store.write(&write("two")).await?;
    same!(found(&store, json!({ "query": " " })).await?, ["one", "two"], "what was found");
    Ok(())
}

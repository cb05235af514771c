//! Faulty stores of data.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a fault changes one thing, and all the others leave it as it is"
)]

use async_trait::async_trait;
use serde_json::json;

use crate::capability::{Capabilities, DataFeatures, DataStoreManifest, ManifestInfo};
use crate::conformance::DataHarness;
use crate::contract::DataStore;
use crate::data::{DataWrite, DataWriteRecord, PortableData, QueryFilters};
use crate::error::DataStoreError;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFault {
    /// What is missing is an error.
    MissingIsAnError,
    /// No end is the same as nothing said.
    LosesTheNull,
    /// What expired is found as ever.
    ForgetsToExpire,
    /// Fields stand in the metadata, too.
    RepeatsFields,
    /// The summary is everything.
    SummaryIsEverything,
    /// Every write is a new entry.
    CountsRepeats,
    /// Any of the words will do.
    AnyWordWillDo,
    /// What is not kept is dropped.
    DropsUnknownFilters,
    /// It names a filter that it drops.
    NamesWhatItDrops,
    /// `"true"` is taken for true.
    TakesTextForTrue,
    /// Tags count only if there are words.
    TagsNeedWords,
    /// A mode that it does not have is another.
    AnyMode,
    /// More come than were asked for.
    IgnoresTheLimit,
    /// Recipients are gone.
    LosesRecipients,
}

impl DataFault {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::MissingIsAnError,
        Self::LosesTheNull,
        Self::ForgetsToExpire,
        Self::RepeatsFields,
        Self::SummaryIsEverything,
        Self::CountsRepeats,
        Self::AnyWordWillDo,
        Self::DropsUnknownFilters,
        Self::NamesWhatItDrops,
        Self::TakesTextForTrue,
        Self::TagsNeedWords,
        Self::AnyMode,
        Self::IgnoresTheLimit,
        Self::LosesRecipients,
    ];

    /// The case that must notice it.
    pub const fn noticed_by(self) -> &'static str {
        match self {
            Self::MissingIsAnError => "what_is_missing_is_none",
            Self::LosesTheNull => "no_end_is_told_from_nothing_said",
            Self::ForgetsToExpire => "what_expired_is_not_shown",
            Self::RepeatsFields => "a_field_has_one_place",
            Self::SummaryIsEverything => "the_first_line_is_the_summary",
            Self::CountsRepeats => "the_same_again_is_the_same_entry",
            Self::AnyWordWillDo => "every_word_must_be_there",
            Self::DropsUnknownFilters => "a_filter_it_does_not_keep_is_refused",
            Self::NamesWhatItDrops => "every_filter_it_names_counts",
            Self::TakesTextForTrue => "only_true_lets_a_filter_go",
            Self::TagsNeedWords => "a_tag_is_any_of_those",
            Self::AnyMode => "a_mode_it_does_not_have_is_refused",
            Self::IgnoresTheLimit => "no_more_are_answered_than_asked_for",
            Self::LosesRecipients => "what_was_written_is_read",
        }
    }
}

/// Makes faulty stores out of good ones.
#[derive(Clone, Debug)]
pub struct FaultyDataHarness<H> {
    /// Makes the good ones.
    pub good: H,
    /// What is to be wrong.
    pub fault: DataFault,
}

/// A store with a fault.
pub struct FaultyData<S> {
    good: S,
    fault: DataFault,
    writes: std::sync::atomic::AtomicU64,
}

#[async_trait]
impl<H: DataHarness> DataHarness for FaultyDataHarness<H> {
    type Store = FaultyData<H::Store>;

    async fn fresh(&self) -> Self::Store {
        FaultyData { good: self.good.fresh().await, fault: self.fault, writes: 0.into() }
    }
}

impl<S> FaultyData<S> {
    fn bent(&self, filters: &QueryFilters) -> QueryFilters {
        let mut filters = filters.clone();
        match self.fault {
            DataFault::DropsUnknownFilters => filters.permissive_filters = true,
            // The text was read as not true; who takes it for true lets the filter go.
            DataFault::TakesTextForTrue if filters.filters.contains_key("odd") => {
                filters.permissive_filters = true;
            }
            DataFault::NamesWhatItDrops => {
                filters.filters.remove("vault");
            }
            DataFault::TagsNeedWords if filters.query.trim().is_empty() => {
                filters.filters.remove("domain_tags");
            }
            DataFault::AnyMode => filters.mode = None,
            DataFault::IgnoresTheLimit => filters.limit = Some(usize::MAX),
            DataFault::AnyWordWillDo => {
                let first = filters.query.split_whitespace().next().map(ToOwned::to_owned);
                filters.query = first.unwrap_or_default();
            }
            _ => {}
        }
        filters
    }

    fn bent_entry(&self, mut entry: PortableData) -> PortableData {
        match self.fault {
            DataFault::RepeatsFields => {
                let metadata = entry.metadata.get_or_insert_default();
                metadata.insert("expires_at".to_owned(), json!(entry.expires_at));
            }
            DataFault::SummaryIsEverything => {
                entry.summary = entry.detail.clone().unwrap_or_default();
            }
            _ => {}
        }
        entry
    }
}

#[async_trait]
impl<S: DataStore> DataStore for FaultyData<S> {
    fn static_capabilities() -> Capabilities<DataFeatures> {
        S::static_capabilities()
    }

    async fn query(&self, filters: &QueryFilters) -> Result<Vec<PortableData>, DataStoreError> {
        let found = self.good.query(&self.bent(filters)).await?;
        Ok(found.into_iter().map(|entry| self.bent_entry(entry)).collect())
    }

    async fn write(&self, write: &DataWrite) -> Result<DataWriteRecord, DataStoreError> {
        let mut write = write.clone();
        match self.fault {
            DataFault::LosesTheNull => write.expires_at = write.expires_at.flatten().map(Some),
            DataFault::ForgetsToExpire => write.expires_at = None,
            DataFault::LosesRecipients => write.recipients = None,
            DataFault::CountsRepeats => {
                let number = self.writes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                write.metadata.get_or_insert_default().insert("number".to_owned(), json!(number));
            }
            _ => {}
        }
        self.good.write(&write).await
    }

    async fn get(&self, id: &str) -> Result<Option<PortableData>, DataStoreError> {
        match self.good.get(id).await? {
            None if self.fault == DataFault::MissingIsAnError => {
                Err(DataStoreError::query("there is no such entry"))
            }
            found => Ok(found.map(|entry| self.bent_entry(entry))),
        }
    }

    async fn manifest(&self) -> Result<ManifestInfo<DataStoreManifest>, DataStoreError> {
        self.good.manifest().await
    }
}

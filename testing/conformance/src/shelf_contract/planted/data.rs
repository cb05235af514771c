//! Faulty stores of data.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a fault changes one thing, and all the others leave it as it is"
)]

use async_trait::async_trait;
use nightdesk_shelf::{
    DataFeatures, DataStore, DataStoreError, DataStoreManifest, DataWrite, DataWriteRecord,
    ManifestInfo, PortableData, QueryFilters, StoreCapabilities,
};
use serde_json::json;

use crate::shelf_contract::DataHarness;

/// A fault of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFault {
    /// A missing entry is an error.
    MissingIsAnError,
    /// A null expiry is treated as an absent one.
    LosesTheNull,
    /// Expired entries are still found.
    ForgetsToExpire,
    /// Fields are also in the metadata.
    RepeatsFields,
    /// The summary is the whole content.
    SummaryIsEverything,
    /// Every write creates a new entry.
    CountsRepeats,
    /// One matching word is sufficient.
    AnyWordWillDo,
    /// Unsupported filters are dropped.
    DropsUnknownFilters,
    /// The manifest names a filter that is dropped.
    NamesWhatItDrops,
    /// `"true"` counts as true.
    TakesTextForTrue,
    /// Tags are ignored without words.
    TagsNeedWords,
    /// An unsupported mode is replaced by another one.
    AnyMode,
    /// More entries are returned than the limit.
    IgnoresTheLimit,
    /// Recipients are lost.
    LosesRecipients,
}

impl DataFault {
    /// All faults.
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

    /// Returns the case that must detect the fault.
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

/// Creates faulty stores from correct ones.
#[derive(Clone, Debug)]
pub struct FaultyDataHarness<H> {
    /// Creates the correct ones.
    pub good: H,
    /// The fault.
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
            // The text was parsed as false; a store that takes it for true drops the filter.
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
    fn static_capabilities() -> StoreCapabilities<DataFeatures> {
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

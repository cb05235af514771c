//! The services outside of the desk that the office needs: the vault's custody, and platforms as their operators set
//! them up.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_port::Bot;
use nightdesk_types::{Incarnation, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::Value;

use crate::error::OfficeError;

/// The keys of tenants, the list of erased tenants, and the history of the database.
#[async_trait]
pub trait DataCustody: Debug + Send + Sync {
    /// Gives a tenant a new data key, and seals its secrets with it. Returns the number of secrets.
    async fn rotate_keys(&self, scope: TenantScope) -> Result<u64, OfficeError>;

    /// Adds a tenant to the list of erased tenants, if the desk has one. No restore of the database brings a listed
    /// tenant back.
    async fn list_erasure(&self, tenant: TenantId) -> Result<(), OfficeError>;

    /// Erases a tenant: its keys first, then its texts. Returns the number of texts.
    async fn erase_tenant(&self, scope: TenantScope) -> Result<u64, OfficeError>;

    /// Begins a new history of the database, and erases the listed tenants that it has again.
    async fn begin_history(
        &self,
        by: TenantScope,
        reason: &str,
    ) -> Result<Incarnation, OfficeError>;
}

/// The platforms whose bots can be connected and checked, by the names of their adapters.
pub type PlatformSetups = BTreeMap<String, Arc<dyn PlatformSetup>>;

/// A platform as the operator of a bot sets it up.
#[async_trait]
pub trait PlatformSetup: Debug + Send + Sync {
    /// Reads the account of a token, if the platform can deliver its updates in this way.
    async fn find_account(
        &self,
        token: &Key,
        updates: UpdateDelivery,
    ) -> Result<PlatformAccount, OfficeError>;

    /// Tells the platform where a new bot's updates go. Returns the bot's state and the remaining steps.
    async fn connect(&self, bot: &Bot, hook: &str) -> Result<Value, OfficeError>;

    /// Tells the platform again where a bot's updates go: their secret may be derived from the bot's key.
    async fn direct_updates(&self, bot: &Bot, hook: &str) -> Result<(), OfficeError>;

    /// Ends the delivery of a bot's updates. Returns the result as a text, or `None` if the platform delivers none by
    /// itself.
    async fn end_updates(&self, bot: &Bot) -> Option<String>;

    /// Queries the platform for a bot's state.
    async fn check_bot(&self, bot: &Bot, hook: &str) -> PlatformFindings;
}

/// The way of a bot's updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateDelivery {
    /// The desk fetches them.
    Fetched,
    /// The platform posts them to the desk's public URL.
    Posted,
}

/// An account of a platform, as the platform describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformAccount {
    /// The name by which people mention it.
    pub handle: String,
    /// The settings of its bot.
    pub settings: Value,
}

/// The state of a bot at its platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformFindings {
    /// The state, or null if the platform did not tell it.
    pub says: Value,
    /// The faults, each with its fix.
    pub wrong: Vec<String>,
}

impl PlatformFindings {
    /// Returns the findings for a bot whose state could not be read.
    pub fn unread(fault: impl Into<String>) -> Self {
        Self { says: Value::Null, wrong: vec![fault.into()] }
    }
}

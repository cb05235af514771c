//! Runs the suites on memory.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_memory::Memory;
use nightdesk_shelf::{Approval, PublicKey, Skills, TenantData, TenantSkills};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{TenantId, TenantScope};
use uuid::Uuid;

use super::{DataHarness, SkillHarness};

/// Shelves in memory, each in a separate store, for the contract's suites.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryShelves;

impl MemoryShelves {
    fn one() -> (Arc<Memory>, TenantScope) {
        let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));
        (Arc::new(Memory::new(FakeClock::default())), scope)
    }
}

#[async_trait]
impl SkillHarness for MemoryShelves {
    type Store = TenantSkills;

    async fn fresh(&self) -> TenantSkills {
        let (memory, scope) = Self::one();
        TenantSkills::new(memory, scope)
    }

    async fn secured(&self, key: PublicKey) -> Option<TenantSkills> {
        let (memory, scope) = Self::one();
        memory.secure_shelf(scope, &Approval::Secured(key)).await.ok()?;
        Some(TenantSkills::new(memory, scope))
    }
}

#[async_trait]
impl DataHarness for MemoryShelves {
    type Store = TenantData;

    async fn fresh(&self) -> TenantData {
        let (memory, scope) = Self::one();
        TenantData::new(memory, scope)
    }
}

//! Runs the suites on the stores of skills and data: in memory, in a folder, and in PostgreSQL.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use async_trait::async_trait;
use nightdesk_conformance::shelf_contract::MemoryShelves;
use nightdesk_conformance::shelf_contract::planted::{self, plant_in_data, plant_in_skills};
use nightdesk_conformance::shelf_contract::{
    DataHarness, Report, SkillHarness, data_store, skill_store,
};
use nightdesk_register::Register;
use nightdesk_shelf::{Approval, FolderSkills, PublicKey, Skills, TenantData, TenantSkills};
use nightdesk_store_pg::{Pg, connect_options, migrate};
use nightdesk_types::{Actor, SystemClock, TenantScope};

use super::{Planted, Proof, Ran};
use crate::cluster::Cluster;
use crate::setup::new_vault;

const DATABASE: &str = "conformance";

/// Runs the suites on every store and on stores with faults.
pub(super) async fn prove(cluster: &Cluster, proof: &mut Proof) -> Result<()> {
    let postgres = Tenants::in_database(cluster).await?;
    let folders = Folders { root: cluster.folder().join("skills"), made: AtomicU64::new(0) };
    proof.ran.extend([
        ran("skill_store", "memory", &skill_store(&MemoryShelves).await),
        ran("skill_store", "folder", &skill_store(&folders).await),
        ran("skill_store", "postgres", &skill_store(&postgres).await),
        ran("data_store", "memory", &data_store(&MemoryShelves).await),
        ran("data_store", "postgres", &data_store(&postgres).await),
    ]);
    proof.planted.extend([
        noticed("skill_store", plant_in_skills(&MemoryShelves).await),
        noticed("data_store", plant_in_data(&MemoryShelves).await),
    ]);
    postgres.pg.close().await;
    Ok(())
}

fn ran(contract: &'static str, implementation: &'static str, report: &Report) -> Ran {
    Ran {
        contract,
        implementation,
        cases: report.cases(),
        passed: report.passed(),
        failed: report.to_string(),
    }
}

fn noticed(contract: &'static str, came: planted::Planted) -> Planted {
    let (planted, caught) = (came.planted, came.caught());
    Planted { contract, planted, caught, missed: came.missed }
}

/// A folder for each store.
struct Folders {
    root: PathBuf,
    made: AtomicU64,
}

impl Folders {
    #[expect(clippy::expect_used, reason = "a proof that cannot set up should stop")]
    fn open(&self, approval: Approval) -> FolderSkills {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let folder = self.root.join(number.to_string());
        let opened = FolderSkills::open(folder, approval, Arc::new(SystemClock::start()));
        opened.expect("a folder of skills opens")
    }
}

#[async_trait]
impl SkillHarness for Folders {
    type Store = FolderSkills;

    async fn fresh(&self) -> FolderSkills {
        self.open(Approval::Unsecured)
    }

    async fn secured(&self, key: PublicKey) -> Option<FolderSkills> {
        Some(self.open(Approval::Secured(key)))
    }

    async fn edit_behind(&self, _store: &FolderSkills, name: &str, source: &str) -> bool {
        // The store in question is in the newest folder.
        let number = self.made.load(Ordering::Relaxed) - 1;
        let path = self.root.join(number.to_string()).join(format!("{name}.skill.md"));
        let Ok(written) = fs::metadata(&path).and_then(|about| about.modified()) else {
            return false;
        };
        let kept = |file: File| file.set_modified(written);
        fs::write(&path, source).is_ok()
            && File::options().append(true).open(&path).and_then(kept).is_ok()
    }
}

/// A tenant for each store.
struct Tenants {
    pg: Arc<Pg>,
    register: Register,
    made: AtomicU64,
}

impl Tenants {
    async fn in_database(cluster: &Cluster) -> Result<Self> {
        cluster.create(DATABASE)?;
        let admin = connect_options(&cluster.admin_url(DATABASE), None)?;
        migrate(&admin, None).await.context("could not make the tables")?;
        let vault = new_vault()?;
        let pg = Arc::new(Pg::connect(&cluster.app_url(DATABASE), None, vault.clone())?);
        let register = Register::new(Arc::<Pg>::clone(&pg), vault);
        Ok(Self { pg, register, made: AtomicU64::new(0) })
    }

    #[expect(clippy::expect_used, reason = "a proof that cannot set up should stop")]
    async fn tenant(&self) -> TenantScope {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let tenant =
            self.register.create_tenant(Actor::Operator, &format!("tenant-{number}")).await;
        TenantScope::for_tenant(tenant.expect("a tenant is entered"))
    }
}

#[async_trait]
impl SkillHarness for Tenants {
    type Store = TenantSkills;

    async fn fresh(&self) -> TenantSkills {
        TenantSkills::new(Arc::<Pg>::clone(&self.pg), self.tenant().await)
    }

    async fn secured(&self, key: PublicKey) -> Option<TenantSkills> {
        let scope = self.tenant().await;
        self.pg.secure_shelf(scope, &Approval::Secured(key)).await.ok()?;
        Some(TenantSkills::new(Arc::<Pg>::clone(&self.pg), scope))
    }
}

#[async_trait]
impl DataHarness for Tenants {
    type Store = TenantData;

    async fn fresh(&self) -> TenantData {
        TenantData::new(Arc::<Pg>::clone(&self.pg), self.tenant().await)
    }
}

//! Checks the promises of the store of skills and data: the contract, for each tenant separately.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_shelf::approval::sign::SigningKey;
use nightdesk_shelf::{
    Approval, DataStore, DataStoreError, DataWrite, PublicKey, QueryFilters, SkillPatch,
    SkillStatus, SkillStore, SkillStoreError, TenantData, TenantSkills,
};
use nightdesk_types::limits::SKILL_REVISIONS_KEPT_MAX;
use nightdesk_types::{Actor, OverQuota, Quota, StoreError, TenantScope};

use super::Harness;
use super::cast::{Cast, tenant};
use super::shelf_contract::{DataHarness, SkillHarness, data_store, skill_store};

const NONE: SkillPatch =
    SkillPatch { status: None, author: None, metadata_bag: None, only_new: false };

/// Shelves for the contract's suites: each store is another tenant's shelf.
pub struct Shelves<'h> {
    harness: &'h dyn Harness,
    tenants: AtomicU64,
}

impl<'h> Shelves<'h> {
    /// Returns shelves in one store.
    pub fn of(harness: &'h dyn Harness) -> Self {
        Self { harness, tenants: AtomicU64::new(0) }
    }

    async fn tenant(&self) -> TenantScope {
        let number = self.tenants.fetch_add(1, Ordering::Relaxed);
        tenant(self.harness, &format!("reader-{number}")).await
    }
}

#[async_trait]
impl SkillHarness for Shelves<'_> {
    type Store = TenantSkills;

    async fn fresh(&self) -> TenantSkills {
        TenantSkills::new(self.harness.skills(), self.tenant().await)
    }

    async fn secured(&self, key: PublicKey) -> Option<TenantSkills> {
        let scope = self.tenant().await;
        let secured = self.harness.skills().secure_shelf(scope, &Approval::Secured(key)).await;
        secured.expect("say who approves");
        Some(TenantSkills::new(self.harness.skills(), scope))
    }
}

#[async_trait]
impl DataHarness for Shelves<'_> {
    type Store = TenantData;

    async fn fresh(&self) -> TenantData {
        TenantData::new(self.harness.records(), self.tenant().await)
    }
}

/// Checks that the store fulfils the contract for skills.
pub async fn skills_pass_every_case(harness: &impl Harness) {
    let report = skill_store(&Shelves::of(harness)).await;
    assert_eq!(report.failed(), [""; 0], "{report}");
}

/// Checks that the store fulfils the contract for data.
pub async fn data_passes_every_case(harness: &impl Harness) {
    let report = data_store(&Shelves::of(harness)).await;
    assert_eq!(report.failed(), [""; 0], "{report}");
}

/// Checks that no tenant sees, changes or removes an item on another tenant's shelf, with any knowledge of it.
pub async fn shelves_of_two_tenants_do_not_meet(harness: &impl Harness) {
    let (ann, bob) = (tenant(harness, "ann").await, tenant(harness, "bob").await);
    let skills = |scope| TenantSkills::new(harness.skills(), scope);
    let data = |scope| TenantData::new(harness.records(), scope);
    let stored = skills(ann).store("here", "x", &NONE).await.expect("keep a skill");
    let write = DataWrite { content: "kettle".to_owned(), ..<_>::default() };
    let written = data(ann).write(&write).await.expect("keep data");
    let token = skills(bob).version().await.expect("a token");

    assert!(skills(bob).load("here", None).await.is_err());
    assert!(skills(bob).load("here", Some(&stored.version)).await.is_err());
    assert!(skills(bob).versions("here").await.is_err());
    assert!(skills(bob).update_status("here", SkillStatus::Approved).await.is_err());
    assert!(skills(bob).delete("here").await.is_err());
    assert_eq!(skills(bob).query(&<_>::default()).await.expect("look"), []);
    assert_eq!(data(bob).get(&written.id).await.expect("look"), None);
    let asked = QueryFilters { query: "kettle".to_owned(), ..<_>::default() };
    assert_eq!(data(bob).query(&asked).await.expect("look"), []);

    skills(bob).store("here", "y", &NONE).await.expect("keep a skill");
    assert_eq!(skills(ann).load("here", None).await.expect("it is there").source, "x");
    skills(ann).store("there", "z", &NONE).await.expect("keep a skill");
    skills(bob).delete("here").await.expect("remove a skill");
    assert_eq!(skills(ann).query(&<_>::default()).await.expect("look").len(), 2);
    assert_ne!(skills(ann).version().await.expect("a token"), token);
    let key = SigningKey::generate().public();
    harness.skills().secure_shelf(bob, &Approval::Secured(key)).await.expect("say who approves");
    assert_eq!(harness.skills().shelf(ann).await.expect("look").approval, Approval::Unsecured);
    skills(ann).update_status("here", SkillStatus::Approved).await.expect("nobody else approves");
}

/// Checks that only one of two concurrent writers of a new skill of one name succeeds, if both demand a new one.
pub async fn of_two_new_skills_of_one_name_one_is_kept(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let scope = cast.person("ann").await.scope;
    let patch = SkillPatch { only_new: true, ..NONE };
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (skills, patch) = (harness.skills(), patch.clone());
        tasks.spawn(async move {
            let source = format!("# Status: Draft\n\nt{number}:\n");
            skills.put_skill(scope, "brief", &source, &patch).await.expect("an answer").is_ok()
        });
    }

    let kept = tasks.join_all().await;
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 1, "{kept:?}");
    let skills = harness.skills();
    let all = skills.skill_sources(scope).await.expect("load");
    let one = skills.skill(scope, "brief", None).await.expect("load").expect("it is there");
    assert_eq!(all, std::slice::from_ref(&one), "all at once are each by itself");
    let same = skills.put_skill(scope, "brief", &one.source, &patch).await.expect("an answer");
    assert!(same.is_ok(), "the same again is no other");
    let overwritten = skills.put_skill(scope, "brief", "# Status: Draft\n", &NONE).await;
    assert!(overwritten.expect("an answer").is_ok());
}

/// Checks the quotas of skills, entries and bytes, and that a removed item makes room.
pub async fn a_shelf_has_quotas(harness: &impl Harness) {
    let scope = tenant(harness, "ann").await;
    let register = harness.register();
    for (quota, allowed) in [(Quota::Skills, 2), (Quota::DataEntries, 2), (Quota::ShelfBytes, 40)] {
        register.set_quota(scope, quota, allowed).await.expect("set a quota");
    }
    let skills = TenantSkills::new(harness.skills(), scope);
    let data = TenantData::new(harness.records(), scope);
    skills.store("a", "0123456789", &NONE).await.expect("keep a skill");
    skills.store("b", "0123456789", &NONE).await.expect("keep a skill");

    assert_eq!(over(skills.store("c", "x", &NONE).await), Some(Quota::Skills));
    skills.store("b", "0123456789x", &NONE).await.expect("it is no new one");
    assert_eq!(over(skills.store("b", "0123456789y", &NONE).await), Some(Quota::ShelfBytes));
    skills.delete("b").await.expect("remove a skill");
    skills.store("c", "0123456789", &NONE).await.expect("there is room");

    let entry = |content: &str| DataWrite { content: content.to_owned(), ..<_>::default() };
    let gone = DataWrite { expires_at: Some(Some(1)), ..entry("0") };
    data.write(&gone).await.expect("keep data");
    data.write(&entry("1")).await.expect("keep data");
    data.write(&entry("2")).await.expect("what expired made room");
    data.write(&entry("2")).await.expect("it is there");
    let third = data.write(&entry("3")).await;
    assert_eq!(over_data(&third), Some(Quota::DataEntries));
}

fn over_data<T>(asked: &Result<T, DataStoreError>) -> Option<Quota> {
    match asked {
        Err(DataStoreError::Store(error)) => of_quota(error),
        _ => None,
    }
}

fn over<T>(asked: Result<T, SkillStoreError>) -> Option<Quota> {
    match asked {
        Err(SkillStoreError::Store(error)) => of_quota(&error),
        _ => None,
    }
}

fn of_quota(error: &StoreError) -> Option<Quota> {
    error.over_quota().map(|OverQuota { quota, .. }| quota)
}

/// Checks that the newest revisions stay, and that only their bytes are counted.
pub async fn the_oldest_revisions_are_let_go(harness: &impl Harness) {
    let scope = tenant(harness, "ann").await;
    let skills = TenantSkills::new(harness.skills(), scope);
    let first = skills.store("a", "0", &NONE).await.expect("keep a skill");
    for number in 1..=SKILL_REVISIONS_KEPT_MAX {
        skills.store("a", &number.to_string(), &NONE).await.expect("keep a skill");
    }

    assert_eq!(skills.versions("a").await.expect("a past").len(), SKILL_REVISIONS_KEPT_MAX);
    assert!(skills.load("a", Some(&first.version)).await.is_err());
}

/// Checks that every act on a skill is recorded with its actor and skill.
pub async fn what_is_done_to_skills_is_told(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let scope = ann.scope.with_actor(Actor::Agent(ann.agent));
    let skills = TenantSkills::new(harness.skills(), scope);
    let before = harness.register().audit_records(scope, 0, 1_000).await.expect("read").len();
    skills.store("here", "x", &NONE).await.expect("keep a skill");
    skills.store("here", "x", &NONE).await.expect("nothing changes");
    let set = skills.update_status("here", SkillStatus::Approved).await.expect("approve");
    skills.delete("here").await.expect("remove a skill");
    let key = Approval::Secured(SigningKey::generate().public());
    harness.skills().secure_shelf(scope, &key).await.expect("say who approves");
    harness.skills().secure_shelf(scope, &key).await.expect("nothing changes");

    assert_eq!(set.changed_by, Some(ann.agent.to_string()));
    let deeds = harness.register().audit_records(scope, 0, 1_000).await.expect("read");
    let told: Vec<_> = deeds[before..].iter().map(|deed| deed.kind.as_str()).collect();
    let want = [Kind::SkillWritten, Kind::SkillStatusSet, Kind::SkillDeleted, Kind::ShelfSecured];
    assert_eq!(told, want.map(Kind::slug));
    assert_eq!(deeds[before].actor, Actor::Agent(ann.agent).to_string());
    assert!(deeds[before].about.contains("here") && deeds[before].about.contains("Draft"));
}

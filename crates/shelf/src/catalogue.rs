//! Catalogue: what an agent may do, grouped by what it does with it.

use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::contract::SkillStore;
use crate::error::SkillStoreError;
use crate::hash::token_of;
use crate::header::{Header, OutputDeclared, TriggerDeclared, VarDeclared};
use crate::skill::{OneOrMany, SkillFilter, SkillSource, SkillStatus};

/// Who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// An agent: what it is told, and what it can do.
    #[default]
    Agent,
    /// Whoever wants to see all.
    All,
    /// Whoever looks after what runs by itself.
    Headless,
}

/// What starts a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerKind {
    /// A time.
    Cron,
    /// Something that happens.
    Event,
}

/// Which skills are asked for. Open: what is not known here is not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CatalogueFilter {
    /// Who asks.
    pub audience: Audience,
    /// Of this status.
    pub status: SkillStatus,
    /// Started so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_kind: Option<TriggerKind>,
    /// Filed under any of these, unless there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domain_tags: Vec<String>,
    /// Whose name begins so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_prefix: Option<String>,
    /// Of this author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

impl Default for CatalogueFilter {
    fn default() -> Self {
        Self {
            audience: Audience::Agent,
            status: SkillStatus::Approved,
            trigger_kind: None,
            domain_tags: Vec::new(),
            name_prefix: None,
            author: None,
        }
    }
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Listed {
    /// Nothing has changed for who asks.
    NotModified {
        /// Always true.
        not_modified: bool,
        /// What they said.
        catalog_version: String,
    },
    /// The catalogue.
    Full(Catalogue),
}

/// Skills, grouped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Catalogue {
    /// What the agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receives: Option<Vec<SkillEntry>>,
    /// What the agent can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SkillEntry>>,
    /// What runs by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headless: Option<Vec<SkillEntry>>,
    /// Stands for all of it, for this filter. A store that has no version has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_version: Option<String>,
}

/// What an agent does with a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// It is told what comes of it.
    Augmenting,
    /// It carries it out.
    Template,
    /// Nothing.
    Headless,
}

/// A skill in the catalogue. What only its language knows is not said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillEntry {
    /// Its name.
    pub name: String,
    /// What an agent does with it.
    pub category: Category,
    /// What it says of itself.
    pub description: String,
    /// What it is filed under.
    pub tags: Vec<String>,
    /// Whether it may be run, by its own word.
    pub status: SkillStatus,
    /// Whether it really may.
    pub gate_ok: bool,
    /// What it wants to be given.
    pub vars: Vec<Var>,
    /// Where what it says goes.
    pub output: Vec<Output>,
    /// What starts it.
    pub triggers: Vec<Trigger>,
    /// What it gives.
    pub returns: Vec<String>,
    /// What it needs.
    pub requires: Vec<String>,
    /// Whose it is.
    pub author: Option<String>,
}

/// Something a skill wants to be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Var {
    /// Its name.
    pub name: String,
    /// Whether it must be.
    pub required: bool,
    /// What it is otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// Where what a skill says goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Of what kind.
    pub kind: String,
    /// Where to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// What starts a skill. Kinds that nobody knows are not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Trigger {
    /// A time.
    Cron {
        /// Which.
        expression: String,
    },
    /// Something that happens.
    Event {
        /// What.
        event_name: String,
    },
}

/// The catalogue of a store, or that nothing has changed since the token was given out for this filter.
pub async fn catalogue(
    store: &dyn SkillStore,
    approval: &Approval,
    filter: &CatalogueFilter,
    if_none_match: Option<&str>,
) -> Result<Listed, SkillStoreError> {
    // Before the skills: what changes in between is then told as old, and asked for again.
    let version = store.version().await?.map(|version| token(&version, approval, filter));
    if let Some(catalog_version) = version.clone().filter(|v| Some(v.as_str()) == if_none_match) {
        return Ok(Listed::NotModified { not_modified: true, catalog_version });
    }
    let mut found = Groups::default();
    for skill in store.sources(&wanted(filter)).await? {
        found.sort_in(skill, approval, filter);
    }
    Ok(Listed::Full(found.seen_by(filter.audience, version)))
}

/// What stands for what can be seen with this filter.
fn token(version: &str, approval: &Approval, filter: &CatalogueFilter) -> String {
    let filter = serde_json::to_string(filter).unwrap_or_default();
    token_of(&format!("{version}\n{}\n{filter}", approval.word()))
}

fn wanted(filter: &CatalogueFilter) -> SkillFilter {
    SkillFilter {
        status: Some(OneOrMany::One(filter.status)),
        author: filter.author.clone(),
        ..SkillFilter::default()
    }
}

#[derive(Default)]
struct Groups {
    receives: Vec<SkillEntry>,
    skills: Vec<SkillEntry>,
    headless: Vec<SkillEntry>,
}

impl Groups {
    fn sort_in(&mut self, skill: SkillSource, approval: &Approval, filter: &CatalogueFilter) {
        let entry = entry(skill, approval);
        if !is_wanted(&entry, filter) {
            return;
        }
        match entry.category {
            Category::Augmenting => self.receives.push(entry),
            Category::Template => self.skills.push(entry),
            Category::Headless => self.headless.push(entry),
        }
    }

    fn seen_by(self, audience: Audience, catalog_version: Option<String>) -> Catalogue {
        let agents = audience != Audience::Headless;
        Catalogue {
            receives: agents.then_some(self.receives),
            skills: agents.then_some(self.skills),
            headless: (audience != Audience::Agent).then_some(self.headless),
            catalog_version,
        }
    }
}

/// What the store's own filter may not have looked at.
fn is_wanted(entry: &SkillEntry, filter: &CatalogueFilter) -> bool {
    let starts = |kind| {
        entry.triggers.iter().any(|trigger| match trigger {
            Trigger::Cron { .. } => kind == TriggerKind::Cron,
            Trigger::Event { .. } => kind == TriggerKind::Event,
        })
    };
    entry.status == filter.status
        && filter.author.as_ref().is_none_or(|author| entry.author.as_ref() == Some(author))
        && filter.name_prefix.as_deref().is_none_or(|prefix| entry.name.starts_with(prefix))
        && filter.trigger_kind.is_none_or(starts)
        && (filter.domain_tags.is_empty()
            || filter.domain_tags.iter().any(|tag| entry.tags.contains(tag)))
}

fn entry(skill: SkillSource, approval: &Approval) -> SkillEntry {
    let header = Header::of(&skill.source);
    SkillEntry {
        name: skill.name,
        category: category(&header),
        description: header.description.unwrap_or_default(),
        tags: header.tags,
        status: skill.metadata.status,
        gate_ok: approval.judge(&skill.source).is_ok(),
        vars: header.vars.into_iter().map(Var::from).collect(),
        output: header.outputs.into_iter().map(Output::from).collect(),
        triggers: header.triggers.into_iter().filter_map(trigger).collect(),
        returns: header.returns,
        requires: header.requires,
        author: skill.metadata.author,
    }
}

fn category(header: &Header) -> Category {
    let goes_to = |kind: &str| header.outputs.iter().any(|output| output.kind == kind);
    if goes_to("agent") {
        Category::Augmenting
    } else if goes_to("template") || header.triggers.is_empty() {
        Category::Template
    } else {
        Category::Headless
    }
}

impl From<VarDeclared> for Var {
    fn from(var: VarDeclared) -> Self {
        Self { name: var.name, required: var.default.is_none(), default: var.default }
    }
}

impl From<OutputDeclared> for Output {
    fn from(output: OutputDeclared) -> Self {
        Self { kind: output.kind, target: output.target }
    }
}

fn trigger(declared: TriggerDeclared) -> Option<Trigger> {
    match declared.source.as_str() {
        "cron" => Some(Trigger::Cron { expression: declared.name }),
        "event" => Some(Trigger::Event { event_name: declared.name }),
        _ => None,
    }
}

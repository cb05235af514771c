//! Lists the skills of an agent, grouped by their use.

use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::contract::SkillStore;
use crate::error::SkillStoreError;
use crate::hash::token_of;
use crate::header::{Header, OutputDeclared, TriggerDeclared, VarDeclared};
use crate::skill::{OneOrMany, SkillFilter, SkillSource, SkillStatus};

/// The audience of a catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// An agent: the skills whose output it receives, and those that it can run.
    #[default]
    Agent,
    /// All skills.
    All,
    /// The skills that run without an agent.
    Headless,
}

/// The kind of trigger of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerKind {
    /// A schedule.
    Cron,
    /// An event.
    Event,
}

/// A filter of the catalogue. Unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CatalogueFilter {
    /// The audience.
    pub audience: Audience,
    /// The status.
    pub status: SkillStatus,
    /// The kind of trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger_kind: Option<TriggerKind>,
    /// Any of these tags; an empty list matches all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domain_tags: Vec<String>,
    /// The beginning of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_prefix: Option<String>,
    /// The author.
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

/// The response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CatalogueResponse {
    /// The catalogue has not changed for this caller.
    NotModified {
        /// Always true.
        not_modified: bool,
        /// The caller's token.
        catalog_version: String,
    },
    /// The catalogue.
    Full(Catalogue),
}

/// Skills in groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Catalogue {
    /// Skills whose output the agent receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receives: Option<Vec<SkillEntry>>,
    /// Skills that the agent can run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SkillEntry>>,
    /// Skills that run without an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headless: Option<Vec<SkillEntry>>,
    /// A token of the whole catalogue for this filter. A store without a version has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_version: Option<String>,
}

/// An agent's use of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// The agent receives its output.
    Augmenting,
    /// The agent runs it.
    Template,
    /// None.
    Headless,
}

/// A skill in the catalogue, without the parts that require a parser of its language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillEntry {
    /// The name.
    pub name: String,
    /// The agent's use of it.
    pub category: Category,
    /// The skill's description of itself.
    pub description: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The status in the skill's header.
    pub status: SkillStatus,
    /// True if the skill may be run.
    pub gate_ok: bool,
    /// The parameters.
    pub vars: Vec<Var>,
    /// The targets of the output.
    pub output: Vec<Output>,
    /// The triggers.
    pub triggers: Vec<Trigger>,
    /// The return values.
    pub returns: Vec<String>,
    /// The requirements.
    pub requires: Vec<String>,
    /// The author.
    pub author: Option<String>,
}

/// A parameter of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Var {
    /// The name.
    pub name: String,
    /// True if it has no default.
    pub required: bool,
    /// The default value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A target of a skill's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The kind.
    pub kind: String,
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// A trigger of a skill. Unknown kinds are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Trigger {
    /// A schedule.
    Cron {
        /// The cron expression.
        expression: String,
    },
    /// An event.
    Event {
        /// The name of the event.
        event_name: String,
    },
}

/// Returns the catalogue of a store, or `NotModified` if the token for this filter is still current.
pub async fn catalogue(
    store: &dyn SkillStore,
    approval: &Approval,
    filter: &CatalogueFilter,
    if_none_match: Option<&str>,
) -> Result<CatalogueResponse, SkillStoreError> {
    // The version is read before the skills. A change in between then leaves an old token, and the caller asks again.
    let version = store.version().await?.map(|version| token(&version, approval, filter));
    if let Some(catalog_version) = version.clone().filter(|v| Some(v.as_str()) == if_none_match) {
        return Ok(CatalogueResponse::NotModified { not_modified: true, catalog_version });
    }
    let mut found = Groups::default();
    for skill in store.sources(&skill_filter(filter)).await? {
        found.sort_in(skill, approval, filter);
    }
    Ok(CatalogueResponse::Full(found.for_audience(filter.audience, version)))
}

/// Returns the token of the catalogue for this filter.
fn token(version: &str, approval: &Approval, filter: &CatalogueFilter) -> String {
    let filter = serde_json::to_string(filter).unwrap_or_default();
    token_of(&format!("{version}\n{}\n{filter}", approval.token_text()))
}

fn skill_filter(filter: &CatalogueFilter) -> SkillFilter {
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

    fn for_audience(self, audience: Audience, catalog_version: Option<String>) -> Catalogue {
        let agents = audience != Audience::Headless;
        Catalogue {
            receives: agents.then_some(self.receives),
            skills: agents.then_some(self.skills),
            headless: (audience != Audience::Agent).then_some(self.headless),
            catalog_version,
        }
    }
}

/// Applies the filters that the store's own query may not support.
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
    let header = Header::parse(&skill.source);
    SkillEntry {
        name: skill.name,
        category: category(&header),
        description: header.description.unwrap_or_default(),
        tags: header.tags,
        status: skill.metadata.status,
        gate_ok: approval.check(&skill.source).is_ok(),
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

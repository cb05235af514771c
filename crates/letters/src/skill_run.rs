//! The origin of letters: the run that sends them, and its caller.

use nightdesk_protocol::delivery::{DeliveryOrigin, Meta, Millis, TriggerKind};
use nightdesk_types::TenantScope;

/// A run that sends letters.
#[derive(Clone, Debug)]
pub struct SkillRun {
    scope: TenantScope,
    skill: String,
    entry: Option<String>,
    trigger: TriggerKind,
    caller: Option<String>,
    event_type: Option<String>,
}

impl SkillRun {
    /// Creates a run for a proven caller. Called skills keep the caller.
    pub fn new(scope: TenantScope, trigger: TriggerKind, caller: Option<String>) -> Self {
        let skill = DeliveryOrigin::ANONYMOUS.to_owned();
        Self { scope, skill, entry: None, trigger, caller, event_type: None }
    }

    /// Returns the run with this skill.
    #[must_use]
    pub fn with_skill(self, skill: impl Into<String>) -> Self {
        Self { skill: skill.into(), ..self }
    }

    /// Returns the run with a label for letters that have none of their own. An empty label is none.
    #[must_use]
    pub fn with_label(self, event_type: impl Into<String>) -> Self {
        let event_type = Some(event_type.into()).filter(|label| !label.is_empty());
        Self { event_type, ..self }
    }

    /// Returns the run of a skill that this one calls. The caller and the entry skill stay; intermediate skills are not
    /// named. The label does not carry over.
    #[must_use]
    pub fn for_called_skill(&self, skill: impl Into<String>) -> Self {
        let entry = self.entry.clone().unwrap_or_else(|| self.skill.clone());
        let skill = skill.into();
        Self {
            entry: Some(entry).filter(|entry| *entry != skill),
            skill,
            event_type: None,
            ..self.clone()
        }
    }

    /// Returns the run with the origin that the sending runtime reports. If the origin names no skill, the caller stays.
    #[must_use]
    pub(crate) fn with_origin(&self, origin: &DeliveryOrigin) -> Self {
        let DeliveryOrigin { skill_name, entry_skill_name, trigger_kind, caller_agent_id } = origin;
        let caller = if origin.is_of_skill() { caller_agent_id } else { &self.caller };
        Self {
            skill: skill_name.clone(),
            entry: entry_skill_name.clone().filter(|entry| entry != skill_name),
            trigger: trigger_kind.clone(),
            caller: caller.clone(),
            ..self.clone()
        }
    }

    /// Returns the tenant that it runs for.
    pub const fn scope(&self) -> TenantScope {
        self.scope
    }

    /// Returns the meta of a letter. The label of the call overrides that of the run.
    pub(crate) fn meta(
        &self,
        dispatch_id: String,
        sent_at: Millis,
        event_type: Option<&str>,
        correlation_id: Option<&str>,
    ) -> Meta {
        let label = event_type.map(str::to_owned).or_else(|| self.event_type.clone());
        Meta {
            dispatch_id,
            sent_at,
            origin: DeliveryOrigin {
                skill_name: self.skill.clone(),
                entry_skill_name: self.entry.clone(),
                trigger_kind: self.trigger.clone(),
                caller_agent_id: self.caller.clone(),
            },
            sender: None,
            event_type: label.filter(|label| !label.is_empty()),
            correlation_id: correlation_id.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantScope;

    use super::*;

    fn run() -> SkillRun {
        SkillRun::new(TenantScope::desk_own(), TriggerKind::Agent, Some("cc".to_owned()))
            .with_skill("C")
    }

    fn meta(run: &SkillRun, event_type: Option<&str>) -> Meta {
        run.meta("d".to_owned(), Millis(1), event_type, None)
    }

    #[test]
    fn who_had_it_run_is_kept_over_composition_and_the_middle_is_not_told() {
        let (b, a) =
            (run().for_called_skill("B"), run().for_called_skill("B").for_called_skill("A"));
        for (run, skill) in [(b, "B"), (a, "A")] {
            let DeliveryOrigin { skill_name, entry_skill_name, caller_agent_id, .. } =
                meta(&run, None).origin;
            assert_eq!(skill_name, skill);
            assert_eq!(entry_skill_name.as_deref(), Some("C"));
            assert_eq!(caller_agent_id.as_deref(), Some("cc"));
        }
        assert_eq!(meta(&run(), None).origin.entry_skill_name, None);
        let back = run().for_called_skill("B").for_called_skill("C");
        assert_eq!(meta(&back, None).origin.entry_skill_name, None, "the same is not told twice");
    }

    #[test]
    fn the_origin_that_a_runtime_reports_is_told_with_its_first_caller() {
        let said = DeliveryOrigin {
            skill_name: "A".to_owned(),
            entry_skill_name: Some("B".to_owned()),
            trigger_kind: TriggerKind::Other("supervisor".to_owned()),
            caller_agent_id: Some("dd".to_owned()),
        };
        let uncalled = DeliveryOrigin { caller_agent_id: None, ..said.clone() };
        let unnamed = DeliveryOrigin::anonymous(Some("dd".to_owned()));
        let origin_of = |reported| meta(&run().with_origin(reported), None).origin;

        assert_eq!(origin_of(&said), said);
        assert_eq!(origin_of(&uncalled), uncalled, "the sender is no fallback");
        assert_eq!(origin_of(&unnamed).caller_agent_id.as_deref(), Some("cc"));
    }

    #[test]
    fn the_label_of_a_call_counts_more_than_that_of_its_skill() {
        let labelled = run().with_label("skill");
        let cases = [
            (run(), None, None),
            (run(), Some("call"), Some("call")),
            (labelled.clone(), None, Some("skill")),
            (labelled.clone(), Some("call"), Some("call")),
            (labelled.with_label(""), None, None),
        ];
        for (run, call, want) in cases {
            assert_eq!(meta(&run, call).event_type.as_deref(), want, "{run:?} {call:?}");
        }
    }
}

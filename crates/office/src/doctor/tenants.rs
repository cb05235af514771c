//! The bots and agents of all tenants: bots that receive nothing, and agents that do not come when they are needed.

use std::time::Duration;

use nightdesk_register::{ListedIdentity, OpenBot};
use nightdesk_types::limits::{
    AGENT_BOOTS_WITHIN, AGENT_COMES_WITHIN, DOCTOR_FINDINGS_MAX, REPORTED_CALLS_MIN,
    TENANT_CHECKS_WAIT,
};
use nightdesk_types::{BotId, TenantId, TenantScope, Timestamp};
use nightdesk_users::{Access, Right};
use nightdesk_wake::AgentWakeStatus;
use tokio::time::Instant;

use super::{DoctorFinding, DoctorMode};
use crate::bot_check::BotCheck;
use crate::bots::OwnBot;
use crate::condition::{AgentCondition, explain_condition};
use crate::error::OfficeError;
use crate::office::Office;

/// The check of bots.
const BOTS: &str = "bots";

/// The check of agents.
const WAKES: &str = "wakes";

/// The findings about one kind of object.
#[derive(Debug)]
struct CheckedObjects {
    check: &'static str,
    /// The number of objects.
    count: usize,
    found: Vec<DoctorFinding>,
}

impl CheckedObjects {
    const fn new(check: &'static str) -> Self {
        Self { check, count: 0, found: Vec::new() }
    }

    fn record(&mut self, finding: Option<DoctorFinding>) {
        self.count += 1;
        self.found.extend(finding);
    }

    /// Returns the findings, up to their maximum, or that there is none.
    fn finish(self, all_well: &str, next_step: &str) -> Vec<DoctorFinding> {
        let Self { check, count, mut found } = self;
        if found.is_empty() {
            return vec![DoctorFinding::ok(check, format!("{count} {all_well}"))];
        }
        let more = found.split_off(found.len().min(DOCTOR_FINDINGS_MAX));
        let text = format!("and {} more", more.len());
        if more.iter().any(DoctorFinding::is_open_fault) {
            found.push(DoctorFinding::fault(check, text, next_step));
        } else if !more.is_empty() {
            found.push(DoctorFinding::advice(check, text, next_step));
        }
        found
    }
}

/// The findings about tenants.
#[derive(Debug)]
struct TenantChecks {
    bots: CheckedObjects,
    agents: CheckedObjects,
    /// The end of the time for them.
    until: Instant,
    /// The first tenant that was left out.
    left_out: Option<String>,
}

impl TenantChecks {
    fn begin() -> Self {
        Self {
            bots: CheckedObjects::new(BOTS),
            agents: CheckedObjects::new(WAKES),
            until: Instant::now() + TENANT_CHECKS_WAIT,
            left_out: None,
        }
    }

    /// Returns true if the time is over, and records the tenant at which that was found first.
    fn is_over(&mut self, tenant: &str) -> bool {
        if Instant::now() < self.until {
            return false;
        }
        self.left_out.get_or_insert_with(|| tenant.to_owned());
        true
    }

    fn finish(self) -> Vec<DoctorFinding> {
        let shown = "`nightdesk bot list --tenant …` shows the bots of a tenant";
        let mut findings = self.bots.finish("bots receive events", shown);
        let shown = "`nightdesk wake status --tenant …` shows the agents of a tenant";
        findings.extend(self.agents.finish("agents come when they are needed", shown));
        if let Some(tenant) = self.left_out {
            findings.push(DoctorFinding::advice(
                BOTS,
                format!(
                    "the time was over before all tenants were examined: {tenant} and those after it by name \
                     were not, or not as a whole"
                ),
                "check their bots with `nightdesk bot check`, and their agents with `nightdesk wake status`",
            ));
        }
        findings
    }
}

impl Office {
    /// Examines the bots and agents of all tenants, by name, as far as the time suffices.
    pub(super) async fn examine_tenants(
        &self,
        access: &Access,
        mode: DoctorMode,
    ) -> Result<Vec<DoctorFinding>, OfficeError> {
        let mut checks = TenantChecks::begin();
        let mut page = self.desk.stops.register.store().tenants("").await?;
        while let Some(last) = page.last() {
            let after = last.name.clone();
            for tenant in page {
                if checks.is_over(&tenant.name) {
                    return Ok(checks.finish());
                }
                let scope = access.tenant_scope(tenant.id, Right::Operate)?;
                self.examine_bots(scope, &tenant, mode, &mut checks).await?;
                self.examine_agents(scope, &tenant, &mut checks.agents).await?;
            }
            page = self.desk.stops.register.store().tenants(&after).await?;
        }
        Ok(checks.finish())
    }

    async fn examine_bots(
        &self,
        scope: TenantScope,
        tenant: &ListedIdentity<TenantId>,
        mode: DoctorMode,
        checks: &mut TenantChecks,
    ) -> Result<(), OfficeError> {
        let open = self.desk.stops.register.store().open_bots(scope).await?;
        for bot in open.into_iter().filter(|bot| bot.is_own) {
            // Each check is a call to a platform.
            if checks.is_over(&tenant.name) {
                return Ok(());
            }
            let bots = &mut checks.bots;
            let checked = match self.check_bot(scope, &bot.id.to_string()).await {
                Ok(checked) => checked,
                // It was removed meanwhile.
                Err(OfficeError::NotFound(_)) => continue,
                Err(error @ OfficeError::Store(_)) => return Err(error),
                Err(error) => {
                    bots.record(Some(unchecked_bot(&tenant.name, &bot, &error)));
                    continue;
                }
            };
            let mut finding = judge_bot(&tenant.name, &checked);
            if mode == DoctorMode::Repair
                && let Some(found) = finding.take()
            {
                finding = Some(self.repair_bot(scope, bot.id, found).await?);
            }
            bots.record(finding);
        }
        Ok(())
    }

    /// Tells the platform again where the bot's updates go, if it knows another address.
    async fn repair_bot(
        &self,
        scope: TenantScope,
        bot: BotId,
        finding: DoctorFinding,
    ) -> Result<DoctorFinding, OfficeError> {
        let OwnBot { hook, .. } = self.own_bot(scope, &bot.to_string()).await?;
        let (stored, adapter) = self.stored_bot(bot).await?;
        let Some(setup) = self.setups.get(&adapter) else { return Ok(finding) };
        let before = setup.check_bot(&stored, &hook).await;
        let is_repairable = !before.says.is_null() && !before.wrong.is_empty();
        // If the platform refuses, the next step of the finding names the fix.
        if !is_repairable || setup.direct_updates(&stored, &hook).await.is_err() {
            return Ok(finding);
        }
        let is_right = setup.check_bot(&stored, &hook).await.wrong.is_empty();
        Ok(if is_right { finding.repaired() } else { finding })
    }

    async fn examine_agents(
        &self,
        scope: TenantScope,
        tenant: &ListedIdentity<TenantId>,
        agents: &mut CheckedObjects,
    ) -> Result<(), OfficeError> {
        let now = self.desk.stops.register.store().time().await?;
        let mut page = self.store.status(scope, None, "").await?;
        while let Some(last) = page.last() {
            let after = last.name.clone();
            for status in &page {
                agents.record(judge_agent(&tenant.name, status, now));
            }
            page = self.store.status(scope, None, &after).await?;
        }
        Ok(())
    }
}

/// Returns the finding about a bot, if it receives nothing or will soon receive nothing.
fn judge_bot(tenant: &str, checked: &BotCheck) -> Option<DoctorFinding> {
    let BotCheck { bot_id, platform, handle, wrong, .. } = checked;
    if wrong.is_empty() {
        return None;
    }
    let text = format!("@{handle} on {platform}, of {tenant}: {}", wrong.join("; "));
    let check = format!("`nightdesk bot check --tenant {tenant} --bot {bot_id}` shows its state");
    Some(DoctorFinding::fault(BOTS, text, check))
}

/// Returns the finding about a bot that could not be checked, for example because its key does not open.
fn unchecked_bot(tenant: &str, bot: &OpenBot, error: &OfficeError) -> DoctorFinding {
    let OpenBot { id, platform, handle, .. } = bot;
    let text = format!("@{handle} on {platform}, of {tenant}, could not be checked: {error}");
    let renew =
        format!("give it its key again: `nightdesk bot rotate-key --tenant {tenant} --bot {id}`");
    DoctorFinding::fault(BOTS, text, renew)
}

/// Returns the finding about an agent that is needed and does not come.
fn judge_agent(tenant: &str, status: &AgentWakeStatus, now: Timestamp) -> Option<DoctorFinding> {
    let (condition, reason) = explain_condition(status, now);
    let waited = match condition {
        AgentCondition::Awake | AgentCondition::Asleep => return None,
        AgentCondition::Unreachable => AGENT_BOOTS_WITHIN,
        AgentCondition::Waking | AgentCondition::Deaf => time_without_agent(status, now),
    };
    if waited < AGENT_COMES_WITHIN {
        return None;
    }
    let name = &status.name;
    let text = format!("agent {name} of {tenant} does not come: {reason}");
    let next = format!(
        "check its wake URL and the program behind it; `nightdesk verify --tenant {tenant} --wake {name}` \
         tries both"
    );
    Some(if waited >= AGENT_BOOTS_WITHIN {
        DoctorFinding::fault(WAKES, text, next)
    } else {
        DoctorFinding::advice(WAKES, text, next)
    })
}

/// Returns the time for which an agent is needed, if it was called often enough to be judged.
fn time_without_agent(status: &AgentWakeStatus, now: Timestamp) -> Duration {
    let called = status.wake.as_ref().filter(|wake| wake.calls >= REPORTED_CALLS_MIN);
    let Some(wake) = called else { return Duration::ZERO };
    let waited = now.duration_since(wake.since);
    if waited.is_negative() { Duration::ZERO } else { waited.unsigned_abs() }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, ClientRules};
    use nightdesk_wake::WakeStatus;
    use uuid::Uuid;

    use super::*;
    use crate::doctor::FindingSeverity;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn needed(state: &str, calls: u32, line: Option<i64>) -> AgentWakeStatus {
        AgentWakeStatus {
            agent: AgentId::from_uuid(Uuid::nil()),
            name: "owl".to_owned(),
            line_since: line.map(at),
            transport: None,
            waiting: 1,
            urls: 1,
            wake: Some(WakeStatus {
                state: state.to_owned(),
                since: at(0),
                due_at: None,
                calls,
                called_at: None,
                outcome: Some("the host cannot be reached".to_owned()),
                woken_at: None,
            }),
            rules: ClientRules::default(),
        }
    }

    #[test]
    fn an_agent_that_does_not_come_is_reported() {
        let (soon, late) = (
            i64::try_from(AGENT_COMES_WITHIN.as_secs()).unwrap(),
            i64::try_from(AGENT_BOOTS_WITHIN.as_secs()).unwrap(),
        );
        let (advice, fault) = (Some(FindingSeverity::Advice), Some(FindingSeverity::Fault));
        let cases = [
            ("called once", needed("due", 1, None), soon, None),
            ("called just now", needed("due", 2, None), soon - 1, None),
            ("called for a while", needed("due", 2, None), soon, advice),
            ("held for a while", needed("held", 2, None), soon, advice),
            ("called for long", needed("due", 20, None), late, fault),
            ("given up", needed("unreachable", 0, None), 1, fault),
            ("a silent line", needed("due", 3, Some(0)), late, fault),
            ("it came", needed("woken", 2, Some(5)), late, None),
            ("settled", needed("settled", 2, None), late, None),
            ("a clock that went back", needed("due", 2, None), -soon, None),
        ];
        for (name, status, second, want) in cases {
            let finding = judge_agent("acme", &status, at(second));
            assert_eq!(finding.as_ref().map(|finding| finding.severity), want, "{name}");
            let next = finding.and_then(|finding| finding.next_step);
            assert_eq!(next.is_some(), want.is_some(), "{name}");
            assert!(next.is_none_or(|next| next.contains("--tenant acme --wake owl")), "{name}");
        }
    }

    #[test]
    fn a_bot_with_faults_is_reported_with_all_of_them() {
        let checked = |wrong: &[&str]| BotCheck {
            bot_id: "00000000-0000-0000-0000-000000000000".parse().unwrap(),
            platform: "telegram".to_owned(),
            handle: "desk_bot".to_owned(),
            heard_at: None,
            said_at: None,
            platform_says: None,
            wrong: wrong.iter().map(|fault| (*fault).to_owned()).collect(),
        };

        assert_eq!(judge_bot("acme", &checked(&[])), None);
        let finding = judge_bot("acme", &checked(&["no token", "no webhook"])).unwrap();
        assert!(finding.is_open_fault());
        assert_eq!(finding.text, "@desk_bot on telegram, of acme: no token; no webhook");
    }

    #[test]
    fn a_report_names_a_bounded_number_of_objects() {
        let mut objects = CheckedObjects::new(WAKES);
        objects.record(None);
        let finished = objects.finish("agents come", "look");
        assert_eq!(finished, [DoctorFinding::ok(WAKES, "1 agents come")]);

        let mut objects = CheckedObjects::new(WAKES);
        for _ in 0..DOCTOR_FINDINGS_MAX + 2 {
            objects.record(Some(DoctorFinding::fault(WAKES, "it does not come", "look")));
        }
        let finished = objects.finish("agents come", "look");
        assert_eq!(finished.len(), DOCTOR_FINDINGS_MAX + 1);
        assert_eq!(finished.last().map(|last| last.text.as_str()), Some("and 2 more"));
    }
}

//! Records the outcome of every instant from the tables.

use anyhow::{Context, Result};
use nightdesk_judge::Event;
use nightdesk_types::{AgentId, Timestamp};
use serde_json::json;

use super::{Tables, columns};

/// Records all of them.
pub(super) fn note(tables: &mut Tables) -> Result<()> {
    let fires = "select fire_id, agent_id, job_id, fire_at, arming, state, cause from fires";
    for row in tables.looker.ask(fires)? {
        let [fire_id, agent, job, fire_at, arming, state, cause] = columns(&row)?;
        let agent: AgentId = agent.parse()?;
        let Some(inbox) = tables.inboxes.get(&agent) else { continue };
        let fire_at: Timestamp = fire_at.parse().with_context(|| format!("odd time: {fire_at}"))?;
        tables.notes.note(Event::FireRow {
            fire_id: fire_id.to_owned(),
            agent: inbox.agent.clone(),
            job: job.to_owned(),
            fire_at_us: fire_at.as_microsecond().unsigned_abs(),
            arming: arming.parse()?,
            state: serde_json::from_value(json!(state))?,
            cause: (!cause.is_empty()).then(|| cause.to_owned()),
        });
    }
    Ok(())
}

//! `nightdesk tenant quota`: sets and shows quotas.

use nightdesk_types::Quota;
use serde_json::Value;

use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// Parses an operator's input: `agents=100`.
pub(super) fn parse(text: &str) -> Result<(Quota, i64), String> {
    let help = || {
        let known = Quota::ALL.map(Quota::slug).join(", ");
        format!("write it like agents=100; there are {known}")
    };
    let (name, number) = text.split_once('=').ok_or_else(help)?;
    let quota = Quota::from_slug(name).ok_or_else(help)?;
    let allowed: u32 = number.parse().map_err(|_| help())?;
    Ok((quota, i64::from(allowed)))
}

/// Sets quotas of a tenant, and shows all of them.
pub(super) async fn run(
    desk: &DeskClient,
    tenant: &str,
    quotas: &[(Quota, i64)],
) -> anyhow::Result<CommandOutput> {
    let path = ["tenants", tenant, "quotas"];
    let request = if quotas.is_empty() {
        ApiRequest::get(&path)
    } else {
        let values =
            quotas.iter().map(|(quota, allowed)| (quota.slug().to_owned(), (*allowed).into()));
        ApiRequest::put(&path).with_body(Value::Object(values.collect()))
    };
    Ok(CommandOutput::One(desk.call(request).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_read_as_it_is_written() {
        assert_eq!(parse("agents=100"), Ok((Quota::Agents, 100)));
        assert_eq!(parse("pending-bytes=0"), Ok((Quota::PendingBytes, 0)));
        for bad in ["agents", "agents=", "agents=-1", "owls=3", "=3"] {
            assert!(parse(bad).unwrap_err().contains("agents=100"), "{bad}");
        }
    }
}

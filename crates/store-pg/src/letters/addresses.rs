//! Facts about the addresses of letters.

use nightdesk_gate::LetterGrants;
use nightdesk_letters::{AddressFacts, AddressQuery, GrantedPeer, NamedAgent, Party};
use nightdesk_types::{AgentId, TenantId, TenantScope};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::inbox::tenants_of;
use crate::row::bad_column;

/// One row of the result.
struct AddressRow {
    sender: Option<String>,
    own_id: Option<Uuid>,
    own_name: Option<String>,
    peer_tenant: Option<Uuid>,
    is_granted_back: bool,
}

pub(super) async fn read(
    connection: &mut PgConnection,
    queries: &[AddressQuery],
) -> sqlx::Result<Vec<AddressFacts>> {
    let tenants: Vec<Uuid> = queries.iter().map(|one| one.from.scope.tenant().uuid()).collect();
    let agents: Vec<Uuid> = queries.iter().map(|one| one.from.agent.uuid()).collect();
    let called: Vec<String> = queries.iter().map(|one| one.agent.replace('\0', "")).collect();
    let ids: Vec<Option<Uuid>> =
        queries.iter().map(|one| parse_agent_id(one).map(AgentId::uuid)).collect();
    let rows = sqlx::query_as!(
        AddressRow,
        r#"select sender, own_id, own_name, peer_tenant, is_granted_back as "is_granted_back!"
           from letter_addresses($1, $2, $3, $4, $5) order by nth"#,
        &tenants_of(queries.iter().map(|one| one.from.scope)),
        &tenants,
        &agents,
        &called,
        &ids as &[Option<Uuid>]
    )
    .fetch_all(connection)
    .await?;
    if rows.len() != queries.len() {
        return Err(bad_column("letter_addresses", "nth"));
    }
    Ok(rows.into_iter().zip(queries).map(|(row, query)| row.facts(query)).collect())
}

/// Returns the agent's id, if the address has one.
fn parse_agent_id(query: &AddressQuery) -> Option<AgentId> {
    query.agent.parse().ok()
}

impl AddressRow {
    fn facts(self, query: &AddressQuery) -> AddressFacts {
        let own = self.own_id.map(AgentId::from_uuid).zip(self.own_name);
        let peer = self.peer_tenant.zip(parse_agent_id(query)).map(|(tenant, agent)| GrantedPeer {
            party: Party { scope: TenantScope::for_tenant(TenantId::from_uuid(tenant)), agent },
            grants: LetterGrants { by_sender: true, by_recipient: self.is_granted_back },
        });
        AddressFacts {
            sender: self.sender,
            own: own.map(|(id, name)| NamedAgent { id, name }),
            peer,
        }
    }
}

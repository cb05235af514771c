//! Identifies a dialling gateway by the secret that signed its token.

use nightdesk_protocol::upgrade_token::PlausibleToken;
use nightdesk_types::{AgentId, GatewayId, TenantScope};
use nightdesk_vault::Key;

/// A gateway as proven by its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// The tenant that it belongs to.
    pub scope: TenantScope,
    /// Its id.
    pub id: GatewayId,
    /// The agent that it speaks for.
    pub agent: AgentId,
    /// False for a client that never acks. An operator sets it; it is never guessed.
    pub acks: bool,
}

/// One secret of one gateway that has the name in a dial.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The gateway.
    pub gateway: Gateway,
    /// The secret.
    pub secret: Key,
    /// True if the gateway was revoked.
    pub revoked: bool,
    /// True if this secret expired.
    pub expired: bool,
}

/// The result of a valid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayProof {
    /// The token belongs to this gateway.
    Valid(Gateway),
    /// The token belongs to this gateway, which was revoked.
    Revoked(Gateway),
}

/// No candidate signed the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no gateway's secret signed the token")]
pub struct UnknownGateway;

/// Returns the candidate that signed the token.
///
/// `Revoked` requires proof: a secret of a revoked gateway signed the token, and no valid secret did.
pub fn decide(
    token: &PlausibleToken,
    candidates: &[Candidate],
) -> Result<GatewayProof, UnknownGateway> {
    let signed = |candidate: &&Candidate| {
        candidate.secret.with(|secret| token.signed_by(&[secret]).is_some())
    };
    let mut revoked = None;
    for candidate in candidates.iter().filter(signed) {
        if candidate.revoked {
            revoked = Some(candidate.gateway);
        } else if !candidate.expired {
            return Ok(GatewayProof::Valid(candidate.gateway));
        }
    }
    revoked.map(GatewayProof::Revoked).ok_or(UnknownGateway)
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::upgrade_token::{self, UpgradeToken};
    use nightdesk_types::{TenantId, Timestamp};
    use uuid::Uuid;

    use super::*;

    fn candidate(tenant: u128, secret: &str) -> Candidate {
        let gateway = Gateway {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(tenant))),
            id: GatewayId::from_uuid(Uuid::from_u128(tenant)),
            agent: AgentId::from_uuid(Uuid::from_u128(tenant)),
            acks: true,
        };
        Candidate { gateway, secret: Key::new(secret.to_owned()), revoked: false, expired: false }
    }

    fn token(secret: &str) -> PlausibleToken {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let token = upgrade_token::make("gw-1", secret.as_bytes(), 300, now);
        UpgradeToken::peek(token.expose()).unwrap().at_the_door(now).unwrap()
    }

    #[test]
    fn the_secret_decides_whose_gateway_it_is() {
        let anns = candidate(1, "anns");
        let bobs = candidate(2, "bobs");
        let revoked = Candidate { revoked: true, ..candidate(3, "old") };
        let expired = Candidate { expired: true, ..candidate(1, "former") };
        let all = [anns.clone(), bobs.clone(), revoked.clone(), expired];
        let cases = [
            ("one tenant's secret", "anns", Ok(GatewayProof::Valid(anns.gateway))),
            ("another's, same name", "bobs", Ok(GatewayProof::Valid(bobs.gateway))),
            ("a revoked gateway's", "old", Ok(GatewayProof::Revoked(revoked.gateway))),
            ("a secret whose time is over", "former", Err(UnknownGateway)),
            ("nobody's", "guess", Err(UnknownGateway)),
        ];
        for (name, secret, want) in cases {
            assert_eq!(decide(&token(secret), &all), want, "{name}");
        }
    }
}

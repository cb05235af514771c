//! Gateway: which one a dial is, decided by whose secret signed its token.

use nightdesk_protocol::upgrade_token::AtTheDoor;
use nightdesk_types::{AgentId, GatewayId, TenantScope};
use nightdesk_vault::Key;

/// A gateway as its secret proved it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// Whose it is.
    pub scope: TenantScope,
    /// Which one.
    pub id: GatewayId,
    /// The agent it speaks for.
    pub agent: AgentId,
    /// False for a client that never acks at all. An operator said so; it is never guessed.
    pub acks: bool,
}

/// One secret of one gateway of the name a dial gave.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The gateway.
    pub gateway: Gateway,
    /// The secret.
    pub secret: Key,
    /// Whether the gateway was revoked.
    pub revoked: bool,
    /// Whether this secret's time is over.
    pub expired: bool,
}

/// What a token proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It is this gateway.
    Valid(Gateway),
    /// It was this gateway, and is not any more.
    Revoked(Gateway),
}

/// Why a dial is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no gateway's secret signed the token")]
pub struct Unknown;

/// Which of the candidates signed the token.
///
/// Revoked is only ever said on proof: a secret of a revoked gateway signed it, and no live
/// one did.
pub fn decide(token: &AtTheDoor, candidates: &[Candidate]) -> Result<Proof, Unknown> {
    let signed = |candidate: &&Candidate| {
        candidate.secret.with(|secret| token.signed_by(&[secret]).is_some())
    };
    let mut revoked = None;
    for candidate in candidates.iter().filter(signed) {
        if candidate.revoked {
            revoked = Some(candidate.gateway);
        } else if !candidate.expired {
            return Ok(Proof::Valid(candidate.gateway));
        }
    }
    revoked.map(Proof::Revoked).ok_or(Unknown)
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::upgrade_token::{self, UpgradeToken};
    use nightdesk_types::{TenantId, Timestamp};
    use uuid::Uuid;

    use super::*;

    fn candidate(tenant: u128, secret: &str) -> Candidate {
        let gateway = Gateway {
            scope: TenantScope::of(TenantId::from_uuid(Uuid::from_u128(tenant))),
            id: GatewayId::from_uuid(Uuid::from_u128(tenant)),
            agent: AgentId::from_uuid(Uuid::from_u128(tenant)),
            acks: true,
        };
        Candidate { gateway, secret: Key::new(secret.to_owned()), revoked: false, expired: false }
    }

    fn token(secret: &str) -> AtTheDoor {
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
            ("one tenant's secret", "anns", Ok(Proof::Valid(anns.gateway))),
            ("another's, same name", "bobs", Ok(Proof::Valid(bobs.gateway))),
            ("a revoked gateway's", "old", Ok(Proof::Revoked(revoked.gateway))),
            ("a secret whose time is over", "former", Err(Unknown)),
            ("nobody's", "guess", Err(Unknown)),
        ];
        for (name, secret, want) in cases {
            assert_eq!(decide(&token(secret), &all), want, "{name}");
        }
    }
}

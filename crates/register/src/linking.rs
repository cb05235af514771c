//! Linking: how a person shows which agent is theirs.
//!
//! Whoever looks after an agent gets a code for it; whoever sends the code to a bot in a direct message is
//! bound to the agent, by the id that the platform vouches for. A code is good once and for a short while, and
//! only its digest is kept.

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};
use nightdesk_vault::Key;

use crate::enrolment::Digest;
use crate::register::{Register, RegisterError, random_bytes};

/// Letters and digits that nobody takes for each other, thirty-two of them.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// How many a code has: fifty bits.
const CODE_LETTERS: usize = 10;

/// What came of a code that a person sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redeemed {
    /// The person is bound to this agent.
    Linked {
        /// Whose it is.
        scope: TenantScope,
        /// The agent.
        agent: AgentId,
        /// What it is called.
        name: String,
    },
    /// There is no such code.
    Unknown,
    /// Its time is over.
    Expired,
    /// Somebody used it before.
    Used,
    /// The bot is another tenant's, and not shared.
    NotHere,
    /// The person tried too often; whether the code is good was not looked at.
    TooMany,
}

/// Keeps link codes.
#[async_trait]
pub trait Linking: Send + Sync {
    /// Enters a code for an agent. Answers whether it had not too many within the hour.
    async fn enter_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
        code: &Digest,
    ) -> Result<bool, StoreError>;

    /// Binds whoever sent a code to a bot. The same person may send it again.
    async fn redeem(&self, bot: BotId, author: &str, code: &Digest)
    -> Result<Redeemed, StoreError>;

    /// Says whether agents of other tenants may be linked on a bot of the tenant's. Answers whether
    /// it has that bot.
    async fn share(&self, scope: TenantScope, bot: BotId, shared: bool)
    -> Result<bool, StoreError>;
}

impl Register {
    /// A code that links whoever sends it to the agent. `None`: it got too many within the hour.
    pub async fn link_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<Key>, RegisterError> {
        let code = new_code();
        let entered = self.store().enter_code(scope, agent, &digest(&code)).await?;
        Ok(entered.then(|| Key::new(spaced(&code))))
    }

    /// Binds whoever sent a code to a bot.
    pub async fn redeem(
        &self,
        bot: BotId,
        author: &str,
        code: &str,
    ) -> Result<Redeemed, RegisterError> {
        Ok(self.store().redeem(bot, author, &digest(&read(code))).await?)
    }
}

fn new_code() -> String {
    let random: [u8; CODE_LETTERS] = random_bytes();
    random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

/// As people read it best.
fn spaced(code: &str) -> String {
    let (first, second) = code.split_at(CODE_LETTERS / 2);
    format!("{first}-{second}")
}

/// What a person meant: in either case, with or without its dash, and with letters for the digits that they
/// look like.
fn read(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    letters
        .map(|letter| match letter.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            letter => letter,
        })
        .take(CODE_LETTERS + 1)
        .collect()
}

fn digest(code: &str) -> Digest {
    Digest::of(&format!("link {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_a_person_writes_it() {
        let code = new_code();
        let shown = spaced(&code);

        let spellings = [
            shown.clone(),
            shown.to_lowercase(),
            format!(" {} ", code.to_lowercase()),
            code.replace('0', "o").replace('1', "l"),
            code.replace('0', "O").replace('1', "I"),
        ];
        for spelled in spellings {
            assert_eq!(read(&spelled), code, "{spelled}");
        }
    }

    #[test]
    fn another_code_is_not_read_as_this_one() {
        let code = new_code();
        for other in [&code[1..], "", &format!("{code}A"), "🔑"] {
            assert_ne!(read(other), code, "{other}");
        }
    }

    #[test]
    fn every_letter_stands_for_itself() {
        let all = std::str::from_utf8(ALPHABET).unwrap();
        let (first, rest) = all.split_at(CODE_LETTERS);
        assert_eq!(read(first), first);
        let letters: std::collections::BTreeSet<char> = all.chars().collect();
        assert_eq!(letters.len(), 32, "{rest}");
    }
}

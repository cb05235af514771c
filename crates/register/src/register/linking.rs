//! Creates link codes, and reads them as people write them.

use nightdesk_types::{AgentId, BotId, TenantScope};
use nightdesk_vault::Key;

use super::Register;
use crate::enrolment::Digest;
use crate::error::RegisterError;
use crate::linking::RedeemResult;
use crate::random::random_bytes;

/// Thirty-two letters and digits that are not mistaken for each other.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Letters of a code: fifty bits.
const CODE_LETTERS: usize = 10;

impl Register {
    /// Returns a code that links its sender to the agent. `None`: the agent had too many within the hour.
    pub async fn link_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<Key>, RegisterError> {
        let code = new_code();
        let entered = self.store().enter_code(scope, agent, &digest(&code)).await?;
        Ok(entered.then(|| Key::new(format_code(&code))))
    }

    /// Binds the author who sent a code to a bot.
    pub async fn redeem(
        &self,
        bot: BotId,
        author: &str,
        code: &str,
    ) -> Result<RedeemResult, RegisterError> {
        Ok(self.store().redeem(bot, author, &digest(&read(code))).await?)
    }
}

fn new_code() -> String {
    let random: [u8; CODE_LETTERS] = random_bytes();
    random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

/// Formats a code for people.
fn format_code(code: &str) -> String {
    let (first, second) = code.split_at(CODE_LETTERS / 2);
    format!("{first}-{second}")
}

/// Normalises a typed code: either case, with or without the dash, and letters for the digits that they resemble.
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
    Digest::from_secret(&format!("link {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_a_person_writes_it() {
        let code = new_code();
        let shown = format_code(&code);

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

//! The question by which a desk finds out that a URL leads to it.
//!
//! A node makes a question and sends it to the public URL. Any node of the desk can answer, with a secret that all nodes
//! share, and answers only a question that its desk made within the last minute. So nothing is stored, and no stranger
//! can have the desk sign anything.

use aws_lc_rs::hmac;
use nightdesk_register::new_secret;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::{DESK_QUESTION_BYTES_MAX, DESK_QUESTION_LIFE};

/// The key of questions and answers.
#[derive(Clone)]
pub struct DeskQuestionKey(hmac::Key);

nightdesk_types::opaque_debug!(DeskQuestionKey);

/// The two texts that the key signs.
#[derive(Clone, Copy, Debug)]
enum SignedText {
    Question,
    Answer,
}

impl SignedText {
    const fn purpose(self) -> &'static str {
        match self {
            Self::Question => "question\0",
            Self::Answer => "answer\0",
        }
    }
}

impl DeskQuestionKey {
    /// Makes the key from a secret that all nodes share.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Makes a question. It is valid for a minute.
    pub fn create_question(&self, now: Timestamp) -> String {
        let asked = new_secret().with(|random| format!("{}-{random}", now.as_second()));
        format!("{asked}-{}", self.sign(SignedText::Question, &asked))
    }

    /// Returns the answer to a question that this desk made within the last minute.
    pub fn answer(&self, question: &str, now: Timestamp) -> Option<String> {
        if question.len() > DESK_QUESTION_BYTES_MAX {
            return None;
        }
        let (asked, mac) = question.rsplit_once('-')?;
        if !self.is_signed(SignedText::Question, asked, mac.as_bytes()) {
            return None;
        }
        let asked_at: i64 = asked.split_once('-')?.0.parse().ok()?;
        let is_fresh = now.as_second().abs_diff(asked_at) <= DESK_QUESTION_LIFE.as_secs();
        is_fresh.then(|| self.sign(SignedText::Answer, question))
    }

    /// Returns true if a response has the answer of this desk to the question.
    pub fn is_answer(&self, question: &str, response: &[u8]) -> bool {
        self.is_signed(SignedText::Answer, question, response.trim_ascii())
    }

    fn sign(&self, kind: SignedText, text: &str) -> String {
        hex::encode(hmac::sign(&self.0, format!("{}{text}", kind.purpose()).as_bytes()))
    }

    fn is_signed(&self, kind: SignedText, text: &str, mac: &[u8]) -> bool {
        let signed = format!("{}{text}", kind.purpose());
        hex::decode(mac).is_ok_and(|mac| hmac::verify(&self.0, signed.as_bytes(), &mac).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn every_node_of_a_desk_answers_its_questions() {
        let (asking, answering) = (DeskQuestionKey::new(&[7; 32]), DeskQuestionKey::new(&[7; 32]));
        let question = asking.create_question(at(0));
        assert!(question.len() <= DESK_QUESTION_BYTES_MAX);
        let answer = answering.answer(&question, at(3)).expect("it is the same desk");

        assert!(asking.is_answer(&question, answer.as_bytes()));
        assert!(asking.is_answer(&question, format!("{answer}\n").as_bytes()));
        let other = asking.create_question(at(0));
        for wrong in [question.as_bytes(), other.as_bytes(), b"", b"ok\n", &[0xff; 64]] {
            assert!(!asking.is_answer(&question, wrong), "{wrong:?}");
        }
        assert!(!asking.is_answer(&other, answer.as_bytes()), "of another question");
    }

    #[test]
    fn a_desk_answers_only_its_own_fresh_questions() {
        let (own, foreign) = (DeskQuestionKey::new(&[7; 32]), DeskQuestionKey::new(&[8; 32]));
        let question = own.create_question(at(0));
        let life = i64::try_from(DESK_QUESTION_LIFE.as_secs()).unwrap();
        let forged = question.replacen("18000", "18001", 1);
        let long = format!("{question}{}", "0".repeat(DESK_QUESTION_BYTES_MAX));
        let cases: [(&str, &str, Timestamp, bool); 10] = [
            ("at once", &question, at(0), true),
            ("at the end of its life", &question, at(life), true),
            ("past it", &question, at(life + 1), false),
            ("from the future", &question, at(-life - 1), false),
            ("of another desk", &foreign.create_question(at(0)), at(0), false),
            ("with another time", &forged, at(0), false),
            ("too long", &long, at(0), false),
            ("no question", "1800000000", at(0), false),
            ("empty", "", at(0), false),
            ("an answer", &own.answer(&question, at(0)).unwrap(), at(0), false),
        ];
        for (name, question, now, is_answered) in cases {
            assert_eq!(own.answer(question, now).is_some(), is_answered, "{name}");
        }
    }
}

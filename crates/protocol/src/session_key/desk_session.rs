//! The desk's own unique name of a conversation.

use std::fmt;

use nightdesk_types::event::Source;

/// The desk's name of a conversation: platform, scope, chat, thread and person.
///
/// Parts are escaped, and an absent part differs from an empty one, so two conversations never share a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeskSession(String);

impl DeskSession {
    /// Returns the name of an event's conversation.
    pub fn from_source(source: &Source) -> Self {
        let parts = [
            Some(source.platform.as_str()),
            source.scope_id.as_deref(),
            Some(source.chat_id.as_str()),
            source.thread_id.as_deref(),
            source.user_id.as_deref(),
        ];
        Self(parts.map(escape_part).join(":"))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeskSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Escapes colons in a part; a part that is present begins with an equals sign.
fn escape_part(part: Option<&str>) -> String {
    let Some(part) = part else { return String::new() };
    format!("={}", part.replace('%', "%25").replace(':', "%3A"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the parts of a name, which shows that the name is unambiguous.
    fn parts(session: &DeskSession) -> Vec<Option<String>> {
        let unescaped = |part: &str| {
            part.strip_prefix('=').map(|part| part.replace("%3A", ":").replace("%25", "%"))
        };
        session.as_str().split(':').map(unescaped).collect()
    }

    /// Texts of few characters that could be misread.
    fn texts() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![":", "%", "=", "%3A", "%25", "a", ""]);
        prop::collection::vec(odd, 0..4).prop_map(|parts| parts.concat())
    }

    prop_compose! {
        fn sources()(
            platform in texts(),
            chat_id in texts(),
            ids in prop::array::uniform3(prop::option::of(texts())),
        ) -> Source {
            let [scope_id, thread_id, user_id] = ids;
            Source { platform, chat_id, scope_id, thread_id, user_id, ..Source::default() }
        }
    }

    fn told_apart(source: &Source) -> [Option<&str>; 5] {
        [
            Some(&source.platform),
            source.scope_id.as_deref(),
            Some(&source.chat_id),
            source.thread_id.as_deref(),
            source.user_id.as_deref(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        // Q1: different conversations have different names.
        #[test]
        fn no_two_conversations_share_a_name(one in sources(), other in sources()) {
            let same = told_apart(&one) == told_apart(&other);
            prop_assert_eq!(DeskSession::from_source(&one) == DeskSession::from_source(&other), same);
        }

        // Q2: for any content of a part, the name shows where the part ends.
        #[test]
        fn no_part_can_pretend_to_be_two(source in sources()) {
            let session = DeskSession::from_source(&source);
            prop_assert_eq!(session.as_str().matches(':').count(), 4);
            let parts = parts(&session);
            let parts: Vec<_> = parts.iter().map(Option::as_deref).collect();
            prop_assert_eq!(parts, told_apart(&source));
        }
    }

    #[test]
    fn a_name_is_readable() {
        let source = Source {
            platform: "matrix".to_owned(),
            chat_id: "!room:server".to_owned(),
            user_id: Some("@a:server".to_owned()),
            ..Source::default()
        };

        assert_eq!(
            DeskSession::from_source(&source).as_str(),
            "=matrix::=!room%3Aserver::=@a%3Aserver"
        );
    }
}

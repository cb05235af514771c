use nightdesk_types::{AgentId, TenantId, TenantScope};
use uuid::Uuid;

use super::*;

fn bot(number: u128) -> BotId {
    BotId::from_uuid(Uuid::from_u128(number))
}

fn reach(number: u128, platform: &str, handle: &str) -> Reach {
    let (platform, handle) = (platform.to_owned(), handle.to_owned());
    Reach { bot: bot(number), platform, handle, speaks_as: None, is_moderator: false }
}

#[test]
fn decides_as_which_bot_an_agent_speaks() {
    let discord = || reach(1, "discord", "d1");
    let telegram = || reach(2, "telegram", "t1");
    let tag = |platform: Option<&str>, handle: Option<&str>| BotTag {
        platform: platform.map(str::to_owned),
        handle: handle.map(str::to_owned),
    };
    let both = [tag(Some("discord"), Some("d1")), tag(Some("telegram"), Some("t1"))];
    let cases = [
        ("tagged", &both[..], vec![discord(), telegram()], tag(Some("telegram"), None), Ok(2)),
        ("by handle", &both, vec![discord(), telegram()], tag(Some("discord"), Some("d1")), Ok(1)),
        ("untagged, one bot knows it", &both, vec![discord()], tag(None, None), Ok(1)),
        (
            "untagged, two bots know it",
            &both,
            vec![discord(), telegram()],
            tag(None, None),
            Err(SendRefusal::Ambiguous),
        ),
        (
            "untagged, one of two greeted",
            &both[1..],
            vec![discord(), telegram()],
            tag(None, None),
            Ok(2),
        ),
        ("nothing reached", &both, vec![], tag(None, None), Err(SendRefusal::NotReached)),
        (
            "another's handle",
            &both,
            vec![discord()],
            tag(Some("discord"), Some("d2")),
            Err(SendRefusal::NotReached),
        ),
        (
            "no hello for it",
            &both[1..],
            vec![discord()],
            tag(Some("discord"), None),
            Err(SendRefusal::NotGreeted),
        ),
        (
            "a hello that names nobody is for all",
            &[BotTag::default()],
            vec![telegram()],
            tag(Some("telegram"), None),
            Ok(2),
        ),
        (
            "a hello for another bot of the platform",
            &[tag(Some("discord"), Some("d2"))],
            vec![discord()],
            tag(Some("discord"), None),
            Err(SendRefusal::NotGreeted),
        ),
    ];
    for (name, greeted, reaches, tag, want) in cases {
        let got = decide_send(greeted, &reaches, &tag).map(|reach| reach.bot);
        assert_eq!(got, want.map(bot), "{name}");
    }
}

fn scoped_agent(number: u128) -> ScopedAgent {
    let tenant = TenantId::from_uuid(Uuid::from_u128(number));
    (TenantScope::for_tenant(tenant), AgentId::from_uuid(Uuid::from_u128(number)))
}

#[test]
fn an_agent_changes_its_own_messages_and_those_that_it_moderates() {
    let message_id = || "5".to_owned();
    let thread_name = "new".to_owned();
    let react = Op::React { message_id: message_id(), emoji: "👍".to_owned(), remove: false };
    let edit = Op::Edit { message_id: message_id(), content: "new".to_owned() };
    let delete = Op::Delete { message_id: message_id() };
    let rename = Op::ThreadRename { message_id: message_id(), thread_name };
    let send = Op::Send { content: "new".to_owned(), reply_to: None };
    let (own, others) = (Some(scoped_agent(1)), Some(scoped_agent(2)));
    let cases = [
        ("edit", &edit, own, true),
        ("edit", &edit, others, false),
        ("edit", &edit, None, false),
        ("delete", &delete, own, true),
        ("delete", &delete, others, false),
        ("delete", &delete, None, false),
        ("rename", &rename, own, true),
        ("rename", &rename, others, false),
        ("rename", &rename, None, false),
        ("react", &react, own, true),
        ("react", &react, others, false),
        ("react to a person's", &react, None, true),
        ("send", &send, None, true),
    ];
    let member = reach(1, "discord", "d1");
    let moderator = Reach { is_moderator: true, ..member.clone() };
    for (name, op, sender, is_allowed) in cases {
        let want = is_allowed.then_some(()).ok_or(SendRefusal::NotOwnMessage);
        assert_eq!(decide_change(scoped_agent(1), &member, op, sender), want, "{name} {sender:?}");
        assert_eq!(decide_change(scoped_agent(1), &moderator, op, sender), Ok(()), "{name}");
    }
}

#[test]
fn a_sister_agent_of_the_same_tenant_is_another_sender() {
    let (tenant, _) = scoped_agent(1);
    let edit = Op::Edit { message_id: "5".to_owned(), content: "new".to_owned() };
    let sister = Some((tenant, scoped_agent(2).1));

    let decided = decide_change(scoped_agent(1), &reach(1, "discord", "d1"), &edit, sister);

    assert_eq!(decided, Err(SendRefusal::NotOwnMessage));
}

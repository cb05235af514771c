use uuid::Uuid;

use super::*;

fn bot(number: u128) -> BotId {
    BotId::from_uuid(Uuid::from_u128(number))
}

fn reach(number: u128, platform: &str, handle: &str) -> Reach {
    let (platform, handle) = (platform.to_owned(), handle.to_owned());
    Reach { bot: bot(number), platform, handle, speaks_as: None }
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

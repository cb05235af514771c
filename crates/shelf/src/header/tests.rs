use proptest::prelude::*;

use super::*;

const FULL: &str = "# Skill: brief\n# Description: tells: all\n# Status: draft\n\n# Tags: a, b\n\
    # Vars: WHO, K=3, L=[1,2]\n# Triggers: cron: 0,30 9 * * *\n# Triggers: event: mail\n\
    # Output: agent: perry@kitchen\n# Output: text\n# Type: data\n# Returns: X\n# Requires: other\n\
    go:\n    emit(text=\"x\")\n# Tags: late\n";

#[test]
fn reads_what_the_header_says_and_no_further() {
    let header = Header::parse(FULL);

    assert_eq!(header.skill.as_deref(), Some("brief"));
    assert_eq!(header.description.as_deref(), Some("tells: all"));
    assert_eq!(header.declared_status(), SkillStatus::Draft);
    assert_eq!(header.tags, ["a", "b"]);
    let vars: Vec<_> =
        header.vars.iter().map(|var| (var.name.as_str(), var.default.as_deref())).collect();
    assert_eq!(vars, [("WHO", None), ("K", Some("3")), ("L", Some("[1,2]"))]);
    assert_eq!(header.triggers[0].name, "0,30 9 * * *");
    assert_eq!(header.triggers[1].source, "event");
    assert_eq!(header.outputs[0].target.as_deref(), Some("perry@kitchen"));
    assert_eq!((header.outputs[1].kind.as_str(), &header.outputs[1].target), ("text", &None));
    assert_eq!(header.kind, Some(SkillType::Data));
    assert_eq!((header.returns, header.requires), (vec!["X".into()], vec!["other".into()]));
}

#[test]
fn the_first_status_line_decides() {
    let cases = [
        ("none", "# Skill: a\n", SkillStatus::Draft),
        ("plain", "# Status: Approved\n", SkillStatus::Approved),
        ("value in any case", "# Status: aPPROVED\n", SkillStatus::Approved),
        ("the first", "# Status: Draft\n# Status: Approved\n", SkillStatus::Draft),
        ("an odd first", "# Status: odd\n# Status: Approved\n", SkillStatus::Draft),
        ("key in another case", "# status: Approved\n", SkillStatus::Draft),
        ("indented", "  # Status: Approved\n", SkillStatus::Draft),
        ("a heading", "## Status: Approved\n", SkillStatus::Draft),
        ("below the header", "go:\n# Status: Approved\n", SkillStatus::Draft),
        ("with a proof", "# Status: Approved v3:abc\n", SkillStatus::Approved),
        ("a lone CR ends a line", "# a\r# Status: Approved\r", SkillStatus::Approved),
    ];
    for (name, source, want) in cases {
        assert_eq!(Header::parse(source).declared_status(), want, "{name}");
    }
}

#[test]
fn a_status_is_written_where_it_stood() {
    let cases = [
        ("# Skill: a\r\n# Status: draft \r\nx", "# Skill: a\r\n# Status: Approved\r\nx"),
        ("x\r\ny", "# Status: Approved\r\nx\r\ny"),
        ("", "# Status: Approved\n"),
        ("# Status: Draft v3:t", "# Status: Approved v3:t"),
    ];
    for (source, want) in cases {
        assert_eq!(with_status(source, SkillStatus::Approved), want, "{source}");
    }
    assert_eq!(with_status("# Status: Approved v3:t", SkillStatus::Disabled), "# Status: Disabled");
    let quoted = "# Description: like # Status: Draft\n# Status: Draft\n";
    let proven = "# Description: like # Status: Draft\n# Status: Approved v3:t\n";
    assert_eq!(with_proof(quoted, "v3:t"), proven);
}

#[test]
fn a_header_has_a_bound() {
    let many = vec!["t"; SKILL_HEADER_VALUES_MAX + 1].join(",");
    assert_eq!(Header::parse(&format!("# Tags: {many}")).tags.len(), SKILL_HEADER_VALUES_MAX);

    let late = "#\n".repeat(SKILL_HEADER_LINES_MAX) + "# Status: Approved";
    assert_eq!(Header::parse(&late).status, None);
    assert!(Header::parse(&late["#\n".len()..]).status.is_some());
}

proptest! {
    #[test]
    fn what_is_written_is_read(source in "(# (Status|status|Tags): ?(Draft|x)?(\n|\r\n|\r))*[ -~\n\r]{0,40}") {
        for status in SkillStatus::ALL {
            let written = with_status(&source, status);
            prop_assert_eq!(Header::parse(&written).declared_status(), status);
            prop_assert_eq!(with_status(&written, status), written);
        }
    }
}

use super::*;
use crate::approval::sign::SigningKey;

fn kept(source: &str, author: Option<&str>) -> StoredSkill {
    StoredSkill { source: source.into(), author: author.map(Into::into), metadata_bag: None }
}

fn write(
    kept: Option<&StoredSkill>,
    source: &str,
    patch: &SkillPatch,
    approval: &Approval,
) -> Result<WritePlan, SkillStoreError> {
    plan(kept, SkillDraft { name: "a", source, patch }, approval)
}

fn status(status: SkillStatus) -> SkillPatch {
    SkillPatch { status: Some(status), ..<_>::default() }
}

#[test]
fn the_bytes_decide_the_status_unless_the_patch_says_otherwise() {
    let (draft, approved) = (kept("# Status: Draft\nx", None), kept("# Status: Approved\nx", None));
    let none = SkillPatch::default();
    let cases = [
        (
            "new: as it says",
            None,
            "# Status: Approved\ny",
            &none,
            SkillStatus::Approved,
            "# Status: Approved\ny",
        ),
        ("new: says nothing", None, "y", &none, SkillStatus::Draft, "y"),
        (
            "over a draft",
            Some(&draft),
            "# Status: Approved\ny",
            &none,
            SkillStatus::Approved,
            "# Status: Approved\ny",
        ),
        (
            "over an approved one, says nothing",
            Some(&approved),
            "y",
            &none,
            SkillStatus::Draft,
            "y",
        ),
        (
            "the patch wins",
            Some(&approved),
            "# Status: Draft\ny",
            &status(SkillStatus::Disabled),
            SkillStatus::Disabled,
            "# Status: Disabled\ny",
        ),
    ];
    for (name, kept, source, patch, want, bytes) in cases {
        let planned = write(kept, source, patch, &Approval::Unsecured).unwrap();
        assert_eq!((planned.status, planned.skill.source.as_str()), (want, bytes), "{name}");
        assert!(planned.changes, "{name}");
    }
}

#[test]
fn in_secured_mode_nothing_is_approved_without_a_signature() {
    let key = SigningKey::generate();
    let approval = Approval::Secured(key.public());
    let signed = key.approve("# Status: Draft\nx");
    let none = SkillPatch::default();

    let forced = write(None, "# Status: Approved\nx", &none, &approval).unwrap();
    assert_eq!(forced.skill.source, "# Status: Draft\nx");
    let wished = write(None, "x", &status(SkillStatus::Approved), &approval).unwrap();
    assert_eq!(wished.status, SkillStatus::Draft);
    let vouched = write(None, &signed, &none, &approval).unwrap();
    assert_eq!((vouched.status, &vouched.skill.source), (SkillStatus::Approved, &signed));
    let edited = write(Some(&vouched.skill), &signed.replace('x', "y"), &none, &approval).unwrap();
    assert_eq!(edited.skill.source, "# Status: Draft\ny");

    assert!(plan_status("a", &forced.skill, SkillStatus::Approved, &approval).is_err());
    let again = plan_status("a", &vouched.skill, SkillStatus::Approved, &approval).unwrap();
    assert!(!again.changes);
    let off = plan_status("a", &vouched.skill, SkillStatus::Disabled, &approval).unwrap();
    assert!(plan_status("a", &off.skill, SkillStatus::Approved, &approval).is_err());
}

#[test]
fn a_skill_stays_its_first_authors() {
    let by = |author: &str| SkillPatch { author: Some(author.into()), ..<_>::default() };
    let theirs = kept("x", Some("perry"));

    assert!(write(Some(&theirs), "y", &by("olsen"), &Approval::Unsecured).is_err());
    let unsaid = write(Some(&theirs), "y", &SkillPatch::default(), &Approval::Unsecured).unwrap();
    assert_eq!(unsaid.skill.author.as_deref(), Some("perry"));
    let nobodys = write(Some(&kept("x", None)), "x", &by("olsen"), &Approval::Unsecured).unwrap();
    assert_eq!(nobodys.skill.author.as_deref(), Some("olsen"));
    assert!(nobodys.changes);
}

#[test]
fn the_same_again_changes_nothing() {
    let before = kept("# Status: Approved\nx", Some("perry"));
    let patch = SkillPatch { author: Some("perry".into()), ..<_>::default() };

    let again =
        write(Some(&before), "# Status: Approved\nx", &patch, &Approval::Unsecured).unwrap();
    assert!(!again.changes);
    let other = write(Some(&before), "# Status: Draft\nx", &patch, &Approval::Unsecured).unwrap();
    assert!(other.changes);
    assert_eq!(other.previous_status, Some(SkillStatus::Approved));
}

#[test]
fn a_skill_has_a_bound() {
    let none = SkillPatch::default();
    let fits = "x".repeat(SKILL_BYTES_MAX);

    assert!(write(None, &fits, &none, &Approval::Unsecured).is_ok());
    assert!(write(None, &(fits + "x"), &none, &Approval::Unsecured).is_err());
    let bag = |bytes| Map::from_iter([("k".to_owned(), Value::from("x".repeat(bytes)))]);
    let noted = |bytes| SkillPatch { metadata_bag: Some(bag(bytes)), ..<_>::default() };
    let room = METADATA_BYTES_MAX - r#"{"k":""}"#.len();
    assert!(write(None, "x", &noted(room), &Approval::Unsecured).is_ok());
    assert!(write(None, "x", &noted(room + 1), &Approval::Unsecured).is_err());
    let by = |bytes| SkillPatch { author: Some("a".repeat(bytes)), ..<_>::default() };
    assert!(write(None, "x", &by(AUTHOR_BYTES_MAX), &Approval::Unsecured).is_ok());
    for bytes in [0, AUTHOR_BYTES_MAX + 1] {
        assert!(write(None, "x", &by(bytes), &Approval::Unsecured).is_err());
    }
}

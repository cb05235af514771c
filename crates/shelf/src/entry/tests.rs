use super::*;

fn write(content: &str) -> DataWrite {
    DataWrite { content: content.into(), ..<_>::default() }
}

fn read(text: &str) -> Result<DataQuery, DataStoreError> {
    DataQuery::validate(&serde_json::from_str(text).unwrap(), "test")
}

#[test]
fn the_first_line_stands_for_an_entry() {
    let long = "ä".repeat(DATA_SUMMARY_CHARS_MAX + 1);
    let cut = format!("{}...", "ä".repeat(DATA_SUMMARY_CHARS_MAX - 3));
    let whole = "ä".repeat(DATA_SUMMARY_CHARS_MAX);
    for (content, want) in [("a\nb", "a"), ("a", "a"), (&whole, &whole), (&long, &cut)] {
        let entry = NewData::validate(&write(content), None).unwrap().portable(7, None);
        assert_eq!((entry.summary.as_str(), entry.detail.as_deref()), (want, Some(content)));
    }
}

#[test]
fn an_entry_has_bounds() {
    let tags =
        |count, bytes| DataWrite { tags: Some(vec!["t".repeat(bytes); count]), ..write("c") };
    let noted = |bytes: usize| DataWrite {
        metadata: Some(Map::from_iter([("k".to_owned(), "x".repeat(bytes).into())])),
        ..write("c")
    };
    let room = METADATA_BYTES_MAX - r#"{"k":""}"#.len();
    let cases = [
        (write(&"x".repeat(DATA_BYTES_MAX)), true),
        (write(&"x".repeat(DATA_BYTES_MAX + 1)), false),
        (write(" \n"), false),
        (write("a\0"), false),
        (tags(DATA_TAGS_MAX, DATA_TAG_BYTES_MAX), true),
        (tags(DATA_TAGS_MAX + 1, 1), false),
        (tags(1, DATA_TAG_BYTES_MAX + 1), false),
        (noted(room), true),
        (noted(room + 1), false),
    ];
    for (write, fits) in cases {
        assert_eq!(NewData::validate(&write, None).is_ok(), fits);
    }
}

#[test]
fn what_has_a_place_of_its_own_is_nowhere_else() {
    let noted =
        |text: &str| DataWrite { metadata: serde_json::from_str(text).unwrap(), ..write("c") };
    let entry = NewData::validate(&noted(r#"{"pinned":true,"vault":"v","mine":1}"#), Some("perry"))
        .unwrap();

    let shown = entry.portable(7, None);
    assert_eq!((shown.pinned, shown.vault.as_deref()), (Some(true), Some("v")));
    assert_eq!(shown.agent_id.as_deref(), Some("perry"));
    assert_eq!(shown.metadata.unwrap().keys().collect::<Vec<_>>(), ["mine"]);
    for refused in [r#"{"pinned":"yes"}"#, r#"{"agent_id":"olsen"}"#, r#"{"expires_at":1}"#] {
        assert!(NewData::validate(&noted(refused), None).is_err(), "{refused}");
    }
}

#[test]
fn the_same_entry_of_the_same_writer_has_the_same_id() {
    let id = |write: &DataWrite, writer| NewData::validate(write, writer).unwrap().id;
    let for_good = DataWrite { expires_at: Some(None), ..write("c") };

    assert_eq!(id(&write("c"), Some("a")), id(&write("c"), Some("a")));
    assert_ne!(id(&write("c"), Some("a")), id(&write("c"), Some("b")));
    assert_ne!(id(&write("c"), None), id(&for_good, None));
}

#[test]
fn a_filter_is_kept_or_refused() {
    for good in [
        r#"{"query":"q","pinned":true,"vault":"v","domain_tags":"t","agent_id":"a"}"#,
        r#"{"domain_tags":["t","u"],"mode":"fts"}"#,
        r#"{"query":"q","odd":1,"permissive_filters":true}"#,
    ] {
        assert!(read(good).is_ok(), "{good}");
    }
    for bad in [
        r#"{"query":"q","odd":1}"#,
        r#"{"query":"q","odd":1,"permissive_filters":"true"}"#,
        r#"{"query":"q","confidence":1}"#,
        r#"{"query":"q","mode":"semantic"}"#,
        r#"{"query":"q","pinned":"true"}"#,
        r#"{"query":"q","vault":null}"#,
        r#"{"query":"q","domain_tags":7}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let odd = read(r#"{"odd":1,"vault":"v","even":2}"#).unwrap_err();
    let DataStoreError::UnsupportedFilter { unsupported, supported, substrate } = odd else {
        panic!("{odd}");
    };
    assert_eq!(unsupported, ["even", "odd"]);
    assert_eq!((supported, substrate.as_str()), (CURATED_FILTERS.map(Into::into).to_vec(), "test"));
}

#[test]
fn a_query_has_bounds() {
    let asked = |bytes| {
        DataQuery::validate(&QueryFilters { query: "q".repeat(bytes), ..<_>::default() }, "test")
            .is_ok()
    };

    assert!(asked(SHELF_QUERY_BYTES_MAX));
    assert!(!asked(SHELF_QUERY_BYTES_MAX + 1));
    assert_eq!(read("{}").unwrap().limit, DATA_QUERY_DEFAULT);
    assert_eq!(read(r#"{"limit":100000}"#).unwrap().limit, DATA_QUERY_MAX);
}

#[test]
fn the_client_for_a_remote_runtime_declares_the_same_filters() {
    const CLIENT: &str = include_str!("../../../../clients/skillscript/src/data-store.ts");
    let listed =
        CLIENT.split("SUPPORTED_FILTERS = [").nth(1).and_then(|rest| rest.split(']').next());
    let listed =
        listed.unwrap_or_default().split(',').map(|filter| filter.trim().trim_matches('"'));
    let listed: Vec<&str> = listed.filter(|filter| !filter.is_empty()).collect();

    assert_eq!(listed, CURATED_FILTERS);
}

use serde_json::json;

use super::visit::LIST_ITEMS_MAX;
use super::*;

/// One field per deserialiser.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Read {
    #[serde(deserialize_with = "text")]
    text: Option<String>,
    #[serde(deserialize_with = "truth")]
    truth: bool,
    #[serde(deserialize_with = "integer")]
    integer: Option<i64>,
    #[serde(deserialize_with = "count")]
    count: Option<u64>,
    #[serde(deserialize_with = "number")]
    number: Option<f64>,
    #[serde(deserialize_with = "object")]
    object: Option<Inner>,
    #[serde(deserialize_with = "texts")]
    texts: Vec<String>,
    #[serde(deserialize_with = "some_objects")]
    objects: Option<Vec<Inner>>,
    #[serde(deserialize_with = "map::<_, 24>")]
    map: Option<Map<String, Value>>,
    #[serde(deserialize_with = "values::<_, 24>")]
    values: Option<Vec<Value>>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Inner {
    #[serde(deserialize_with = "text")]
    a: Option<String>,
}

/// Puts one value into every field.
fn read(value: &Value) -> Read {
    let fields = [
        "text", "truth", "integer", "count", "number", "object", "texts", "objects", "map",
        "values",
    ];
    let all: Map<_, _> =
        fields.into_iter().map(|field| (field.to_owned(), value.clone())).collect();
    serde_json::from_str(&Value::Object(all).to_string()).unwrap()
}

/// The result for a value that no field accepts.
fn nothing() -> Read {
    Read { map: Some(Map::new()), values: Some(vec![]), ..Read::default() }
}

#[test]
fn each_reader_takes_its_kind_and_no_other() {
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (json!(null), nothing()),
        (json!(false), nothing()),
        (json!(true), Read { truth: true, ..nothing() }),
        (json!(""), Read { text: text(""), ..nothing() }),
        (json!("a"), Read { text: text("a"), truth: true, ..nothing() }),
        (json!(0.5), Read { truth: true, number: Some(0.5), ..nothing() }),
        (
            json!(-7),
            Read {
                text: text("-7"),
                truth: true,
                integer: Some(-7),
                number: Some(-7.0),
                ..nothing()
            },
        ),
        (
            json!(7),
            Read {
                text: text("7"),
                truth: true,
                integer: Some(7),
                count: Some(7),
                number: Some(7.0),
                ..nothing()
            },
        ),
        (
            json!(u64::MAX),
            Read {
                text: Some(u64::MAX.to_string()),
                truth: true,
                count: Some(u64::MAX),
                ..nothing()
            },
        ),
    ];
    for (value, want) in cases {
        assert_eq!(read(&value), want, "{value}");
    }
}

#[test]
fn items_that_do_not_fit_are_left_out() {
    let read = read(&json!([{"a": 1}, "b", 2, {"x": []}, [7]]));

    assert_eq!(read.texts, ["b", "2"]);
    let inner = |a: Option<&str>| Inner { a: a.map(str::to_owned) };
    assert_eq!(read.objects, Some(vec![inner(Some("1")), inner(None)]));
    assert_eq!((read.text, read.truth, read.object), (None, false, None));
}

#[test]
fn a_list_is_read_up_to_its_limit() {
    let read = read(&json!(vec!["x"; LIST_ITEMS_MAX + 1]));

    assert_eq!(read.texts.len(), LIST_ITEMS_MAX);
}

#[test]
fn a_free_form_value_past_its_limit_is_none() {
    let (at_limit, past_it) = (json!({"a": "x".repeat(16)}), json!({"a": "x".repeat(17)}));
    assert_eq!(at_limit.to_string().len(), 24);

    assert_eq!(read(&at_limit).map, at_limit.as_object().cloned());
    assert_eq!(read(&past_it).map, None);
    assert_eq!(read(&json!(["x".repeat(20)])).values.map(|values| values.len()), Some(1));
    assert_eq!(read(&json!(["x".repeat(21)])).values, None);
}

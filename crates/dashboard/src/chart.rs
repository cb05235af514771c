//! Charts as SVG, drawn by pure functions. Each has a title and its numbers as a text.

use nightdesk_office::{EntryStep, UsageView};

/// A measure of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageMeasure {
    Messages,
    Wakes,
    MinutesAwake,
    Fires,
}

nightdesk_types::slugs! {
    UsageMeasure:
    Messages = "messages",
    Wakes = "wakes",
    MinutesAwake = "minutes-awake",
    Fires = "fires",
}

impl UsageMeasure {
    const fn label(self) -> &'static str {
        match self {
            Self::Messages => "Messages",
            Self::Wakes => "Wakes",
            Self::MinutesAwake => "Minutes awake",
            Self::Fires => "Fires of jobs",
        }
    }

    const fn value_in(self, usage: &UsageView) -> i64 {
        match self {
            Self::Messages => usage.messages,
            Self::Wakes => usage.wakes,
            Self::MinutesAwake => usage.minutes_awake,
            Self::Fires => usage.fires,
        }
    }
}

/// The width of a bar with its gap.
const BAR_WIDTH: usize = 10;

/// The height of the highest bar.
const BAR_HEIGHT: i64 = 48;

/// Draws the usage of some periods, oldest first. The text of a period names it: `hours` or `days`.
fn usage_chart(measure: UsageMeasure, rows: &[UsageView], periods: &str) -> String {
    let values: Vec<i64> = rows.iter().map(|row| measure.value_in(row)).collect();
    let (sum, most) = (values.iter().sum::<i64>(), values.iter().copied().max().unwrap_or(0));
    let busiest = rows.iter().find(|row| most > 0 && measure.value_in(row) == most);
    let (id, label, count) = (measure.slug(), measure.label(), values.len());
    let peak = busiest.map_or_else(String::new, |row| format!(", at most {most}, from {}", row.at));
    let bars: Vec<String> =
        values.iter().enumerate().map(|(number, value)| bar(number, *value, most)).collect();
    let bars = bars.concat();
    let width = count * BAR_WIDTH;
    format!(
        r#"<figure class="chart"><figcaption>{label} <strong>{sum}</strong></figcaption><svg role="img" aria-labelledby="{id}-title {id}-text" viewBox="0 0 {width} {BAR_HEIGHT}" preserveAspectRatio="none"><title id="{id}-title">{label} of the last {count} {periods}</title><desc id="{id}-text">{sum} in total{peak}</desc>{bars}</svg></figure>"#
    )
}

/// Draws a bar. A small value is still visible.
fn bar(number: usize, value: i64, most: i64) -> String {
    let height = if value == 0 { 0 } else { (value * BAR_HEIGHT / most.max(1)).max(2) };
    let (x, y, width) = (number * BAR_WIDTH + 1, BAR_HEIGHT - height, BAR_WIDTH - 2);
    format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="1"/>"#)
}

/// Returns the charts of the usage of some periods.
pub(crate) fn usage_charts(rows: &[UsageView], periods: &str) -> Vec<String> {
    UsageMeasure::ALL.into_iter().map(|measure| usage_chart(measure, rows, periods)).collect()
}

/// The width of the drawing of an entry's course.
const COURSE_WIDTH: f64 = 640.0;

/// Draws the steps of an entry that have a time, and the gaps between them. The width of a gap grows with the logarithm of
/// its time, so that milliseconds and hours are both visible.
pub(crate) fn course_chart(steps: &[EntryStep]) -> String {
    let timed: Vec<&EntryStep> = steps.iter().filter(|step| step.at.is_some()).collect();
    if timed.len() < 2 {
        return String::new();
    }
    let weights: Vec<f64> = timed.iter().skip(1).map(|step| gap_weight(step.gap_ms)).collect();
    let unit = (COURSE_WIDTH - 80.0) / weights.iter().sum::<f64>().max(1.0);
    let mut drawing = Vec::new();
    let mut x = 40.0;
    for (number, step) in timed.iter().enumerate() {
        if let Some(weight) = number.checked_sub(1).and_then(|gap| weights.get(gap)) {
            let before = x;
            x += weight * unit;
            let (middle, gap) =
                (f64::midpoint(before, x), step.after.as_deref().unwrap_or_default());
            drawing.push(format!(
                r#"<line x1="{before:.0}" y1="40" x2="{x:.0}" y2="40"/><text class="gap" x="{middle:.0}" y="30">{gap}</text>"#
            ));
        }
        // Neighbours stand at different heights, so that their labels do not cover each other.
        let (kind, label, y) =
            (step.kind, step.label, if number.is_multiple_of(2) { 62 } else { 78 });
        drawing.push(format!(
            r#"<circle class="{kind}" cx="{x:.0}" cy="40" r="6"/><text x="{x:.0}" y="{y}">{label}</text>"#
        ));
    }
    let drawing = drawing.concat();
    let text: Vec<String> = timed.iter().map(|step| step_text(step)).collect();
    let text = text.join(", ");
    format!(
        r#"<svg class="course" role="img" aria-labelledby="course-title course-text" viewBox="0 0 {COURSE_WIDTH:.0} 90"><title id="course-title">The course of the entry</title><desc id="course-text">{text}</desc>{drawing}</svg>"#
    )
}

fn step_text(step: &EntryStep) -> String {
    match &step.after {
        Some(after) => format!("{} after {after}", step.label),
        None => step.label.to_owned(),
    }
}

fn gap_weight(gap_ms: Option<i64>) -> f64 {
    let milliseconds = u32::try_from(gap_ms.unwrap_or(0)).unwrap_or(u32::MAX);
    1.0 + f64::from(milliseconds).ln_1p()
}

#[cfg(test)]
mod tests {
    use nightdesk_office::duration_text;

    use super::*;

    fn usage(hour: u8, messages: i64) -> UsageView {
        let at = format!("2026-01-01T{hour:02}:00:00Z");
        UsageView { at, messages, wakes: 0, minutes_awake: 0, fires: 0 }
    }

    fn step(label: &'static str, gap_ms: Option<i64>) -> EntryStep {
        let after = gap_ms.map(duration_text);
        let at = Some("2026-01-01T00:00:00Z".to_owned());
        EntryStep { kind: "done", label, text: String::new(), at, gap_ms, after }
    }

    #[test]
    fn a_chart_has_a_title_and_its_numbers_as_a_text() {
        let rows = [usage(8, 0), usage(9, 40), usage(10, 1)];
        let chart = usage_chart(UsageMeasure::Messages, &rows, "hours");

        for part in [
            r#"role="img" aria-labelledby="messages-title messages-text""#,
            ">Messages of the last 3 hours</title>",
            ">41 in total, at most 40, from 2026-01-01T09:00:00Z</desc>",
            r#"<rect x="11" y="0" width="8" height="48" rx="1"/>"#,
            r#"<rect x="21" y="46" width="8" height="2" rx="1"/>"#,
        ] {
            assert!(chart.contains(part), "{part}: {chart}");
        }
        let empty = usage_chart(UsageMeasure::Wakes, &[], "days");
        assert!(empty.contains(">0 in total</desc>"), "{empty}");
        assert!(!chart.contains("style="), "the policy of the page allows no inline style");
    }

    #[test]
    fn a_course_draws_each_step_and_each_gap() {
        let steps =
            [step("stored", None), step("called", Some(120)), step("answered", Some(7_200_000))];
        let course = course_chart(&steps);

        assert_eq!(course.matches("<circle").count(), 3);
        assert!(
            course.contains(">stored, called after 120 ms, answered after 2 h</desc>"),
            "{course}"
        );
        assert!(course.contains(">120 ms</text>") && course.contains(r#"cx="600""#), "{course}");
        assert_eq!(course_chart(&steps[..1]), "", "a single step is no course");
    }
}

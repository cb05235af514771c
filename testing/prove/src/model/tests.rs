use super::*;

const PAGE: &str = include_str!("../../../../docs/scale.md");

#[test]
fn the_page_on_scale_says_what_the_models_say() {
    let (report, summary) = (report(), summary());

    assert!(PAGE.contains(&report), "docs/scale.md should have:\n{report}");
    assert!(PAGE.contains(&summary), "docs/scale.md should have:\n{summary}");
}

#[test]
fn a_herd_that_can_wait_comes_back_as_fast_as_it_is_let_in() {
    let back = Herd::cut(4_000).comes_back();

    assert_eq!(back.all_ms, 1_000 + 3_999 * 2);
    assert_eq!((back.waiting_peak, back.dials), (4_000, 4_000));
}

#[test]
fn one_that_cannot_dials_again_and_loses_no_time_as_long_as_some_wait() {
    let back = Herd::cut(10_000).comes_back();

    // After 1, 3, 7 and 15 s there are places for 4,000, 1,000, 2,000 and the rest.
    assert_eq!(back.dials, 10_000 + 6_000 + 5_000 + 3_000);
    assert_eq!((back.waiting_peak, back.all_ms), (4_000, 15_000 + 2_999 * 2));
}

#[test]
fn lines_that_leave_in_turns_wait_for_less() {
    let (cut, stopped) = (Herd::cut(10_000).comes_back(), Herd::stopped(10_000).comes_back());

    assert!(stopped.waiting_peak < 10, "{stopped:?}");
    assert!(stopped.all_ms >= cut.all_ms, "{stopped:?}");
}

#[test]
fn a_hot_agent_slows_those_on_its_writer_and_a_flood_everybody() {
    let [alone, one, many, flood] = Hot::ALL.map(quiet_beside);

    assert_eq!(alone.refused_percent, 0);
    assert!(one.p50_us <= alone.p50_us * 2, "three of four writers are not touched: {one:?}");
    assert!(one.p99_us > 10 * alone.p99_us, "the fourth is: {one:?}");
    assert_eq!(many.refused_percent, 0, "spread over all writers it is no flood: {many:?}");
    assert!(flood.p50_us > 10 * alone.p50_us && flood.refused_percent > 0, "{flood:?}");
}

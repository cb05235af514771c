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
    let back = Herd::cut(10_000).comes_back();

    assert_eq!(back.all_ms, 1_000 + 9_999 * 2);
    assert_eq!((back.waiting_peak, back.dials), (10_000, 10_000));
}

#[test]
fn one_that_cannot_dials_again_and_waits_between() {
    let back = Herd::cut(50_000).comes_back();

    // Fifteen thousand in each half minute, with 2, 4 and 8 s in which nobody dials.
    assert_eq!(back.dials, 50_000 + 35_000 + 20_000 + 5_000);
    assert!(back.all_ms > 100_000 + 1_000 + 2_000 + 4_000 + 8_000 - 1_000, "{back:?}");
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

use crate::event::{Event, GatewayState, RATE_LIMIT};
use crate::tale::Tale;

fn wakeable() -> Event {
    Event::Wakeable { agent: "carol".to_owned() }
}

fn called() -> Event {
    Event::WakeRecv { agent: "carol".to_owned() }
}

fn state(what: GatewayState) -> Event {
    Event::GwState { agent: "carol".to_owned(), what }
}

/// Connects carol, who takes the waiting entry.
fn comes(tale: &mut Tale, conn: &str, nonce: &str) {
    tale.opened(conn, "carol").handed(conn, "carol", nonce).acked(conn, "carol", nonce);
}

#[test]
fn who_never_came_is_called_soon() {
    for (call_ms, want) in [(14_900, &[][..]), (15_100, &["I12"])] {
        let mut tale = Tale::clean();
        tale.note(wakeable()).said("n9", &["carol"]).wait_ms(call_ms).note(called());
        comes(&mut tale, "c9", "n9");
        assert_eq!(tale.broken(), want, "{call_ms} ms");
    }
}

#[test]
fn an_event_over_a_rate_limit_wakes_no_agent() {
    for (reason, want) in [(RATE_LIMIT, &[][..]), ("tries", &["I12"])] {
        let (nonce, reason) = ("n9".to_owned(), reason.to_owned());
        let mut tale = Tale::clean();
        tale.note(wakeable()).note(Event::MayPark { nonce, reason: reason.clone() });
        tale.said("n9", &["carol"]).wait_ms(20_000);
        comes(&mut tale, "c9", "n9");
        assert_eq!(tale.broken(), want, "{reason}");
    }
}

#[test]
fn an_entry_waits_since_it_was_first_taken() {
    let mut tale = Tale::clean();
    tale.note(wakeable()).said("n9", &["carol"]).wait_ms(10_000);
    tale.note(Event::PlatAck { id: "event-n9".to_owned(), attempt: 2, status: 200 });
    tale.wait_ms(10_000).note(called());
    comes(&mut tale, "c9", "n9");

    assert_eq!(tale.broken(), ["I12"]);
}

#[test]
fn who_is_not_called_at_all_is_found_also_if_nothing_follows() {
    let mut tale = Tale::clean();
    tale.note(wakeable()).said("n9", &["carol"]).wait_ms(20_000);

    tale.note(Event::Canary { place: "so that time passes".to_owned() });
    assert_eq!(tale.broken_so_far(), ["I12", "I22"]);
}

#[test]
fn nobody_is_called_who_comes_by_themselves_or_cannot_be() {
    let mut soon = Tale::clean();
    soon.note(wakeable()).said("n9", &["carol"]).wait_ms(14_000);
    comes(&mut soon, "c9", "n9");
    assert_eq!(soon.broken(), [""; 0]);

    let mut deaf = Tale::clean();
    deaf.said("n9", &["carol"]).wait_ms(60_000);
    comes(&mut deaf, "c9", "n9");
    assert_eq!(deaf.broken(), [""; 0]);
}

#[test]
fn an_entry_that_was_done_before_the_platform_read_its_ack_does_not_wait() {
    let mut tale = Tale::clean();
    tale.note(wakeable()).note(Event::PlatSend {
        id: "event-n9".to_owned(),
        bot: "bot".to_owned(),
        chat: "chat".to_owned(),
        user: "user".to_owned(),
        nonce: "n9".to_owned(),
        expect: vec!["carol".to_owned()],
        order: None,
    });
    comes(&mut tale, "c9", "n9");
    tale.note(Event::PlatAck { id: "event-n9".to_owned(), attempt: 1, status: 200 });
    tale.closed("c9", 1006).wait_ms(60_000).note(state(GatewayState::Idle));

    assert_eq!(tale.broken(), [""; 0]);
}

#[test]
fn a_line_that_the_desk_ended_has_longer_to_come_back() {
    for (code, away_ms, want) in
        [(1006, 16_000, &["I12"][..]), (1012, 44_000, &[]), (1012, 46_000, &["I12"])]
    {
        let mut tale = Tale::clean();
        tale.note(wakeable()).opened("c9", "carol").closed("c9", code).said("n9", &["carol"]);
        tale.wait_ms(away_ms);
        comes(&mut tale, "c10", "n9");
        assert_eq!(tale.broken(), want, "{code}, {away_ms} ms");
    }
}

#[test]
fn a_line_of_a_dead_node_has_longer_too() {
    for (target, want) in [("node-1", &[][..]), ("redis", &["I12"])] {
        let mut tale = Tale::with_faults();
        tale.note(wakeable()).opened("c9", "carol").fault_on("f9", target).closed("c9", 1006);
        tale.fault_off("f9").said("n9", &["carol"]).wait_ms(40_000);
        comes(&mut tale, "c10", "n9");
        assert_eq!(tale.broken(), want, "{target}");
    }
}

#[test]
fn a_fault_on_the_way_of_the_call_excuses_while_it_lasts() {
    for (late_ms, want) in [(14_000, &[][..]), (16_000, &["I12"])] {
        let mut tale = Tale::with_faults();
        tale.note(wakeable()).said("n9", &["carol"]).fault_on("f9", "node-1/target");
        tale.wait_ms(30_000).fault_off("f9").wait_ms(late_ms).note(called());
        comes(&mut tale, "c9", "n9");
        assert_eq!(tale.broken(), want, "{late_ms} ms");
    }
}

#[test]
fn a_fault_that_comes_too_late_excuses_nothing() {
    let mut tale = Tale::with_faults();
    tale.note(wakeable()).said("n9", &["carol"]).wait_ms(20_000).fault_on("f9", "node-1");
    tale.wait_ms(30_000).fault_off("f9").note(called());
    comes(&mut tale, "c9", "n9");

    assert_eq!(tale.broken(), ["I12"]);
}

#[test]
fn each_time_away_is_told_once() {
    let mut tale = Tale::clean();
    tale.note(wakeable());
    for (conn, nonces) in [("c8", ["n5", "n6"]), ("c9", ["n7", "n8"])] {
        for nonce in nonces {
            tale.said(nonce, &["carol"]).wait_ms(20_000);
        }
        tale.opened(conn, "carol");
        for nonce in nonces {
            tale.handed(conn, "carol", nonce).acked(conn, "carol", nonce);
        }
        tale.closed(conn, 1000);
    }

    assert_eq!(tale.counts(), [("I12", 2)]);
}

#[test]
fn a_frozen_gateway_is_called_once_it_is_suspect() {
    for (call_ms, want) in [(50_000, &[][..]), (60_000, &["I12"])] {
        let mut tale = Tale::with_faults();
        tale.note(wakeable()).opened("c9", "carol").note(state(GatewayState::Frozen));
        tale.said("n9", &["carol"]).wait_ms(call_ms).note(called());
        tale.note(state(GatewayState::Thawed));
        tale.handed("c9", "carol", "n9").acked("c9", "carol", "n9");
        assert_eq!(tale.broken(), want, "{call_ms} ms");
    }
}

#[test]
fn calls_keep_their_distance() {
    for (gap_ms, want) in [(15_000, &[][..]), (14_000, &["I12"])] {
        let mut tale = Tale::clean();
        tale.note(wakeable()).said("n9", &["carol"]).wait_ms(1_000).note(called());
        tale.wait_ms(gap_ms).note(called());
        comes(&mut tale, "c9", "n9");
        assert_eq!(tale.broken(), want, "{gap_ms} ms");
    }
}

#[test]
fn who_was_called_just_now_is_not_called_again_at_once() {
    for (away_ms, want) in [(18_000, &[][..]), (21_000, &["I12"])] {
        let mut tale = Tale::clean();
        tale.note(wakeable()).said("n8", &["carol"]).wait_ms(1_000).note(called());
        comes(&mut tale, "c8", "n8");
        tale.closed("c8", 1000).said("n9", &["carol"]).wait_ms(away_ms);
        comes(&mut tale, "c9", "n9");
        assert_eq!(tale.broken(), want, "{away_ms} ms");
    }
}

#[test]
fn who_is_on_a_line_is_not_called() {
    for (up_ms, want) in [(4_000, &[][..]), (6_000, &["I12"])] {
        let mut tale = Tale::clean();
        tale.note(wakeable()).opened("c9", "carol").wait_ms(up_ms).note(called());
        assert_eq!(tale.broken(), want, "{up_ms} ms");
    }
}

#[test]
fn who_holds_an_entry_for_long_may_be_called_on_a_line() {
    let mut tale = Tale::clean();
    tale.note(wakeable()).opened("c9", "carol").said("n9", &["carol"]).handed("c9", "carol", "n9");
    tale.wait_ms(45_000).note(called()).acked("c9", "carol", "n9");

    assert_eq!(tale.broken(), [""; 0]);
}

#[test]
fn a_call_to_who_stood_still_was_made_before_it_was_read() {
    for (target, want) in [("gateway", &[][..]), ("postgres", &["I12"])] {
        let mut tale = Tale::with_faults();
        tale.note(wakeable()).said("n9", &["carol"]).wait_ms(1_000);
        tale.fault_on("f9", target).wait_ms(7_000).fault_off("f9").wait_ms(200).note(called());
        tale.wait_ms(10_000).note(called());
        comes(&mut tale, "c9", "n9");
        assert_eq!(tale.broken(), want, "{target}");
    }
}

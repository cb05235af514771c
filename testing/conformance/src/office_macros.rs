//! Runs the suites of stores for people: users, alerts, and the views of the office.

/// Checks a store of users.
#[macro_export]
macro_rules! user_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { users, $harness;
            a_user_has_the_roles_that_were_given,
            a_tenant_sees_only_its_own_users,
            a_user_has_a_bounded_number_of_roles,
            claims_give_and_take_their_own_roles,
            a_verified_address_finds_the_user_that_was_entered,
            a_login_link_works_once,
            a_session_has_its_users_present_roles,
            the_last_role_ends_the_sessions,
            a_token_has_its_limits_until_it_is_revoked,
            a_user_has_a_bounded_number_of_tokens,
            glass_is_broken_by_two_operators_and_told,
        }
    };
}

/// Checks a store of alerts, for which time can pass.
#[macro_export]
macro_rules! alert_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { alerts, $harness;
            an_alert_is_opened_and_resolved,
            a_message_is_delivered_once,
            a_way_gets_the_alerts_that_it_covers,
            a_way_hears_of_what_is_open,
            ways_are_bounded_and_told,
            a_way_is_tested_once_in_its_time,
            parked_entries_are_a_cause_until_they_are_resubmitted,
            a_full_inbox_is_a_cause_until_it_has_room,
            unreadable_events_are_a_cause_for_an_hour,
            a_deaf_bot_is_a_cause_until_it_hears,
            a_wake_in_vain_is_a_cause_until_the_agent_dials_in,
            a_missed_fire_is_a_cause_for_an_hour,
            a_quota_that_is_almost_used_up_is_a_cause,
            findings_of_a_node_count_for_a_while,
            a_cause_has_a_bounded_number_of_samples,
        }
    };
}

/// Checks the records that the pages of operators and tenants read, in a store for which time can pass.
#[macro_export]
macro_rules! office_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { office, $harness;
            agents_are_counted_by_their_state,
            agents_are_selected_by_name_and_by_state,
            a_prefix_is_compared_as_it_is_written,
            a_wake_that_ended_is_logged,
            the_newest_line_is_shown,
            received_letters_are_listed_to_their_agent,
            bindings_and_grants_are_listed_to_their_tenant,
            usage_rises_with_what_happens,
            usage_is_sampled_once_in_its_time,
            nodes_are_listed_with_their_open_lines,
            parked_entries_are_grouped_by_reason,
            parked_entries_come_in_pages,
            a_dropped_entry_is_gone_and_told,
            refusals_are_grouped_by_reason,
            unreadable_events_are_grouped_by_problem,
        }
    };
}

//! Defines the macros that turn a suite's checks into tests.

/// Defines one test per check. The harness is created for each test by a function of the caller's module, and the
/// expression may `await`.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_checks {
    ($suite:ident, $harness:expr; $($check:ident,)+) => {
        mod $suite {
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $check() {
                    let harness = $harness;
                    $crate::$suite::$check(&harness).await;
                }
            )+
        }
    };
}

/// Checks a store of the inbox.
#[macro_export]
macro_rules! inbox_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { inbox, $harness;
            numbers_are_consecutive_from_one,
            an_entry_holds_what_was_said,
            recipients_of_two_tenants_get_one_entry_each,
            a_duplicate_takes_no_number,
            a_duplicate_in_its_own_batch_takes_no_number,
            the_same_key_of_another_bot_is_another_event,
            a_stale_admit_is_refused_and_decided_again,
            a_change_on_one_bot_keeps_nothing_from_another,
            each_event_of_a_batch_gets_its_outcome,
            an_unknown_recipient_fails_the_batch_and_nothing_is_stored,
            a_full_inbox_parks_what_comes,
            an_unsendable_entry_is_parked_and_the_next_arrives,
            entries_far_over_their_authors_limit_are_parked_and_leave_room,
            heads_are_the_last_numbers_given_out,
            epochs_of_a_source_rise,
            a_source_stands_after_the_last_event_of_its_batch,
            a_fenced_source_is_refused_and_its_cursor_stays,
            a_stale_event_holds_back_its_source,
            a_cursor_is_moved_by_the_newest_owner_alone,
            the_quarantine_is_a_ring,
            waiting_comes_in_order,
            a_read_is_bounded_in_bytes,
            a_replaced_line_reads_nothing,
            a_line_of_another_history_reads_and_acks_nothing,
            gathered_reads_get_an_answer_each,
            nothing_is_handed_over_to_another_tenant,
            an_acked_entry_is_never_handed_over_again,
            acks_out_of_order_count_and_the_cursor_waits_for_the_gap,
            acks_of_a_replaced_line_do_not_count,
            an_ack_beyond_the_head_ends_the_history,
            acking_twice_changes_nothing,
            an_ack_covers_what_was_parked_in_between,
            gathered_acks_get_an_answer_each,
            nothing_is_acked_by_another_tenant,
            a_parked_entry_leaves_the_inbox,
            only_the_newest_line_parks_what_waits,
            a_parked_entry_is_resubmitted_once,
            only_what_is_parked_is_resubmitted,
            a_resubmitted_entry_is_an_entry_like_any_other,
            an_overview_tells_what_waits_and_what_is_parked,
            an_overview_finds_what_waits_behind_a_gap,
            an_overview_comes_in_pages_and_to_its_tenant_alone,
            an_entry_is_shown_with_what_became_of_it,
            a_resubmitted_entry_knows_its_origin,
            what_waits_is_set_aside_by_hand,
            a_stopped_chat_is_set_aside_while_its_agent_sleeps,
            a_repeat_is_found_whoever_comes_first,
            no_inbox_has_a_gap,
        }
    };
}

/// Checks a store of the inbox against a reference queue, in this many random cases.
#[macro_export]
macro_rules! inbox_model_conformance {
    ($harness:expr, $cases:expr) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn inbox_follows_the_model() {
            let harness = $harness;
            $crate::inbox::inbox_follows_the_model(&harness, $cases).await;
        }
    };
}

/// Checks a store of wakes, for which time can pass.
#[macro_export]
macro_rules! wake_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { wake, $harness;
            an_entry_for_a_sleeper_makes_a_wake_due,
            an_entry_over_its_authors_limit_wakes_no_agent,
            who_has_a_line_is_not_called,
            a_parting_has_its_grace,
            an_entry_soon_after_a_parting_waits_for_the_grace,
            a_line_that_ended_with_nothing_waiting_wakes_nobody,
            a_resubmitted_entry_wakes,
            a_test_entry_wakes,
            a_dead_node_ends_its_lines,
            a_posted_line_is_resumed_at_once,
            a_step_of_the_clock_ends_no_line,
            a_suspect_line_has_its_agent_called,
            an_agent_that_dialled_in_is_woken,
            what_nobody_needs_any_more_is_put_away,
            nobody_is_called_too_often,
            a_webhook_is_a_way_to_wake,
            a_call_that_is_put_off_does_not_count,
            who_is_woken_too_often_is_held,
            who_cannot_be_woken_is_given_up_and_told,
            who_cannot_be_called_is_left_until_somebody_can,
            a_person_may_ask_for_a_call,
            a_delay_is_claimed_until_it_is_told,
            claims_at_once_share_the_work,
            one_agents_claims_at_once_make_one_call,
            calls_lie_apart_whatever_happens,
            nobody_sees_another_tenants_wakes,
            waiting_entries_are_counted_up_to_a_bound,
        }
    };
}

/// Checks a store of letters.
#[macro_export]
macro_rules! letter_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { letters, $harness;
            a_batch_has_an_outcome_for_each_letter,
            letters_of_one_batch_count_for_each_other,
            batches_that_cross_each_other_all_end,
            an_address_names_one_agent,
            a_letter_lies_in_the_inbox_of_its_agent,
            a_sleeper_is_woken_by_a_letter,
            a_line_that_is_up_is_told_with_its_session,
            the_same_dispatch_to_the_same_agent_is_the_same_letter,
            the_same_dispatch_at_once_is_one_letter,
            nothing_goes_between_tenants_without_both_grants,
            a_grant_is_told_and_taken_back,
            nobody_writes_to_an_agent_that_is_not_there,
            letters_that_answer_letters_are_counted_and_end,
            hops_are_forgotten_after_a_while,
            the_first_reply_in_time_is_the_reply,
            nobody_replies_to_a_letter_that_came_to_another,
            a_reply_that_comes_late_is_none,
            of_a_reply_and_the_end_of_the_wait_one_counts,
            a_letter_for_later_is_kept_until_it_is_due,
            a_letter_that_the_desk_is_to_put_is_kept,
            a_letter_that_goes_out_is_written_down_and_not_put,
            a_letter_that_went_out_when_it_was_due_is_over,
            a_full_inbox_takes_no_letter,
            a_letter_for_later_waits_for_room,
            letters_are_shown_to_their_sender_alone,
            letters_are_listed_newest_first,
            a_list_is_what_a_look_at_each_letter_is,
            whom_an_agent_can_write_to_is_told_with_who_is_up,
            receipts_are_kept_as_they_were,
            a_webhook_is_found_by_its_secret_alone,
            a_deprovisioned_agent_has_no_grants_and_no_webhooks,
            old_letters_are_forgotten,
        }
    };
}

/// Checks a store of jobs and fires.
#[macro_export]
macro_rules! schedule_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { schedule, $harness;
            an_armed_job_is_as_it_was_written,
            asked_again_nothing_changes,
            a_job_armed_anew_is_another_arming,
            a_past_instant_is_due_at_once,
            a_put_off_job_has_its_moment,
            an_agent_arms_as_many_jobs_as_it_may,
            a_tenant_arms_as_many_jobs_as_it_may,
            arms_at_once_keep_to_the_quota,
            arms_at_once_come_one_after_the_other,
            nobody_arms_for_a_foreign_agent,
            the_instant_that_is_told_is_not_armed_again,
            what_waits_ends_when_its_job_is_armed_anew,
            what_was_superseded_is_not_tried_again,
            a_cancelled_job_is_not_told,
            what_waits_is_cancelled,
            who_cancels_too_late_hears_so,
            a_try_that_may_be_over_is_cancelled,
            a_cancel_and_a_claim_at_once_agree,
            a_deprovisioned_agent_is_told_of_nothing,
            nothing_is_told_early,
            nothing_is_told_twice,
            a_claim_is_held_and_then_anybodys,
            the_longest_due_come_first,
            claims_at_once_share_the_jobs,
            the_dead_are_told_of_nothing_due,
            what_comes_too_late_is_missed,
            what_comes_within_its_time_is_told,
            a_little_late_is_in_time,
            when_something_more_is_due_is_told,
            a_fire_is_taken_once,
            a_late_fire_is_written_down_as_late,
            what_is_put_is_taken_and_is_there_once,
            fires_that_end_at_once_end_each_by_itself,
            only_the_newest_try_is_missed,
            a_missed_fire_is_told_of,
            what_came_of_a_try_is_known_in_the_next,
            a_try_that_was_not_made_does_not_count,
            a_day_of_tries_is_enough,
            a_run_that_is_not_over_is_let_be,
            a_run_that_is_not_over_is_waited_for,
            a_run_that_is_not_over_may_not_matter,
            a_run_ends_of_itself_after_a_while,
            a_report_counts_once,
            a_report_says_that_a_fire_was_taken,
            a_job_that_should_be_armed_is_flagged_once,
            a_job_armed_again_is_recurring,
            a_job_that_was_cancelled_is_not_missed,
            fires_are_shown_newest_first,
            jobs_are_shown_in_pages,
            nobody_sees_another_tenants_jobs,
            what_is_over_is_forgotten,
        }
    };
}

/// Checks a store of lines.
#[macro_export]
macro_rules! line_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { lines, $harness;
            the_number_of_a_line_rises,
            a_line_begins_at_the_cursor,
            an_unknown_agent_has_no_line,
            the_holder_of_an_open_line_is_found,
            sessions_live_as_long_as_their_line,
            a_restart_is_told_to_its_own_gateway,
            three_tries_park_the_oldest_entry,
            two_tries_park_nothing,
            a_try_of_a_replaced_line_counts,
            a_try_of_what_was_acked_does_not_count,
            the_tries_of_another_entry_begin_anew,
            nobody_closes_a_line_of_another_tenant,
        }
    };
}

/// Checks a store of skills and of data.
#[macro_export]
macro_rules! shelf_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { shelf, $harness;
            skills_pass_every_case,
            data_passes_every_case,
            shelves_of_two_tenants_do_not_meet,
            of_two_new_skills_of_one_name_one_is_kept,
            a_shelf_has_quotas,
            the_oldest_revisions_are_let_go,
            what_is_done_to_skills_is_told,
        }
    };
}

/// Checks a store of files by reference.
#[macro_export]
macro_rules! media_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { media, $harness;
            a_file_is_found_by_its_agent_alone,
            a_file_is_there_for_its_time,
        }
    };
}

/// Checks a store of the gate.
#[macro_export]
macro_rules! gate_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { gate, $harness;
            nothing_is_known_about_a_new_bot,
            bindings_come_oldest_first,
            the_agent_preferred_last_comes_first,
            grants_are_known_where_they_hold,
            what_is_granted_belongs_to_one_agent,
            an_agents_principal_holds_for_its_grants,
            terms_are_known_by_bot_and_platform,
            relevance_follows_the_client,
            an_agent_takes_part_where_it_received_something,
            agents_of_one_chat_speak_by_their_names,
            the_version_moves_with_every_change,
            what_changed_since_is_told,
            who_keeps_up_knows_everything,
            a_prompt_is_its_first_askers,
            an_entry_lets_its_agent_answer,
            a_grant_lets_its_agent_write,
            a_binding_lets_its_agent_write_to_the_person,
            a_grant_of_every_chat_lets_nobody_write_first,
            a_reach_ends_with_the_last_binding,
            every_bot_that_knows_the_chat_is_told,
            an_agent_moderates_where_it_was_allowed_to,
            refusals_are_kept_in_a_ring,
            a_batch_may_be_longer_than_the_ring,
            a_refusal_is_told_to_its_tenant,
        }
    };
}

/// Checks a store of the register.
#[macro_export]
macro_rules! register_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { register, $harness;
            a_tenant_is_entered_once,
            an_agent_has_its_name_in_its_tenant,
            nobody_binds_an_agent_of_another_tenant,
            a_chat_is_granted_once,
            a_gateway_is_found_by_its_name,
            two_tenants_may_use_the_same_gateway_name,
            a_rotated_secret_overlaps_with_the_new_one,
            only_a_live_gateway_is_rotated,
            a_revoked_gateway_is_still_found,
            an_agent_has_one_gateway_for_tokens,
            a_bot_is_found_by_path_and_by_id,
            a_bot_is_entered_once,
            bots_to_be_looked_after_are_found_by_adapter,
            a_rotated_bot_key_overlaps_with_the_new_one,
            a_deaf_bot_is_told_of_once,
            what_may_be_lost_is_told,
            nothing_is_noted_of_a_bot_of_somebody_else,
            a_removed_bot_is_gone,
            an_agents_bots_are_those_it_is_known_on,
            a_command_has_one_agent_in_each_guild,
            what_was_told_of_a_command_is_kept,
            a_tenant_is_found_by_name_or_id,
            tenants_are_listed_in_pages,
            agents_are_listed_to_their_tenant,
            a_gateway_is_listed_with_its_line_and_secrets,
            an_agents_gateways_are_listed_with_it,
            a_client_is_found_until_it_is_revoked,
            a_token_makes_one_gateway,
            an_enrolled_gateway_is_given_another_secret,
            a_refused_enrolment_uses_nothing_up,
            of_racing_enrolments_one_wins,
            nobody_is_invited_for_a_foreign_agent,
            a_boot_gets_one_secret_for_all_its_platforms,
            a_later_boot_gets_another_secret,
            only_provisioned_secrets_go,
            a_name_in_two_tenants_is_two_gateways,
            a_name_that_cannot_be_had_is_not_provisioned,
            an_invited_identity_has_one_gateway_name,
            of_racing_boots_all_get_one_secret,
            a_gateway_says_where_it_is_woken,
            one_first_signing_key_stands,
            a_code_links_one_person,
            a_code_is_good_on_open_bots_alone,
            guesses_are_few,
            codes_are_few,
            an_agents_reach_is_its_own,
            a_bot_is_open_to_its_own_and_when_shared_to_all,
            a_deprovisioned_agent_has_nothing_left,
            a_tenant_says_what_its_gateways_may,
            an_agent_stops_others_only_if_it_may,
            a_retired_key_stays_so,
            a_session_is_one_agents,
            a_refresh_token_is_traded_for_the_next,
            a_refresh_token_with_a_used_successor_ends_its_session,
            of_racing_refreshes_all_get_one_successor,
            a_tenant_enters_as_many_agents_as_it_may,
            a_tenant_is_granted_as_much_as_it_may,
            a_tenant_has_as_many_gateways_as_it_may,
            an_inbox_holds_what_its_tenant_may,
            each_act_is_told_once,
            each_act_by_hand_is_told_once,
            each_act_of_who_looks_after_agents_is_told_once,
            a_boot_is_told_once,
            the_desks_own_acts_are_told,
            an_enrolment_is_told_once,
            an_act_that_failed_is_not_told,
            what_was_done_is_a_chain_of_its_tenant,
        }
    };
}

/// Checks a store of sends.
#[macro_export]
macro_rules! egress_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { egress, $harness;
            a_repeat_gets_what_came_of_the_first,
            requests_of_two_agents_do_not_meet,
            every_outcome_is_kept,
            a_send_is_claimed_once,
            only_the_owner_claims,
            only_the_claimer_settles,
            what_waits_is_found_by_its_owner,
            a_bot_without_an_owner_is_found,
            what_is_given_up_is_never_called_again,
            only_what_is_not_begun_is_retracted,
            a_sweep_is_bounded,
            a_message_is_of_the_agent_whose_send_made_it,
            a_change_of_a_message_makes_no_sender,
            an_agent_has_so_many_stored_sends_and_prompts,
        }
    };
}

/// Checks a store of leases.
#[macro_export]
macro_rules! lease_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { lease, $harness;
            lives_are_counted,
            the_living_are_counted,
            a_life_that_is_over_stays_over,
            one_node_owns_something,
            what_a_life_owned_ends_with_it,
            the_dead_take_nothing,
            a_step_of_the_clock_ends_no_life,
            a_life_is_ended_unless_it_was_renewed,
            a_paused_owner_comes_too_late,
        }
    };
}

/// Checks a store of chats on our own pages.
#[macro_export]
macro_rules! webchat_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { webchat, $harness;
            a_transcript_is_read_as_it_was_written,
            a_repeat_is_written_once,
            a_late_line_is_shown_where_it_was_said,
            a_changed_line_comes_again,
            only_an_agents_own_line_is_changed,
            a_status_goes_when_the_agent_speaks,
            a_look_at_a_chat_is_bounded,
            chats_do_not_meet,
            who_reads_along_misses_nothing,
        }
    };
}

/// Checks the upkeep of a store.
#[macro_export]
macro_rules! upkeep_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { upkeep, $harness;
            a_round_touches_nothing_young,
            parked_entries_above_the_quota_are_removed_and_told,
            a_flood_pushes_out_no_other_parked_entry,
        }
    };
}

/// Checks all stores of a backend that can advance time.
#[macro_export]
macro_rules! timed_store_conformance {
    ($harness:expr) => {
        $crate::__conformance_checks! { time, $harness;
            an_event_is_remembered_for_days,
            who_asked_is_remembered_for_days,
            a_chat_is_reached_for_days,
            a_reach_outlives_its_entry,
            a_restart_lies_back,
            an_old_secret_ends_with_the_overlap,
            a_revocation_lies_back,
            an_invitation_ends,
            a_boots_secret_is_given_again_for_a_while,
            a_pinned_secret_outlives_every_boot,
            whatever_is_rotated_ends_when_it_was_said_to,
            a_refresh_token_shown_late_ends_its_session,
            a_settled_send_is_forgotten,
            what_nobody_took_expires,
            a_parked_entry_is_kept_for_days,
            what_was_acked_is_forgotten,
            an_old_chat_is_forgotten,
        }
    };
}

"""What other readers of chat exports got wrong, where that was reported, and the tests that fail on the same fault."""

from __future__ import annotations

from importlib import import_module

import pytest

# What was reported: where, and the test of tests/importers that shows the right behaviour.
REPORTS: dict[str, tuple[str, ...]] = {
    # Lines, bytes and encodings
    "anthropics/claude-code#50347 delexw/claude-code-trace#66": (
        "test_lines.test_a_malformed_line_in_the_middle_is_counted_and_the_rest_is_read",
    ),
    "neilberkman/ccrider#11 anthropics/claude-code#76059": (
        "test_lines.test_lines_of_nul_bytes_are_blank_and_nul_around_a_record_is_dropped",
    ),
    "codemie-ai/codemie-code#67": (
        "test_lines.test_records_glued_together_on_one_line_are_all_read",
        "test_lines.test_an_object_over_several_lines_is_malformed_and_counted_by_line",
    ),
    "github/copilot-cli#4098": (
        "test_claude_code.test_a_truncated_record_followed_by_a_whole_one_on_its_line_costs_only_itself",
    ),
    "github/copilot-cli#2649": ("test_lines.test_a_raw_line_break_inside_a_string_makes_two_malformed_lines",),
    "github/copilot-cli#2490 volcengine/OpenViking#3984 huggingface/tau#354": (
        "test_lines.test_only_a_line_feed_ends_a_line",
    ),
    "bytedance/deer-flow#5420 datalad/datalad#3523 wbolster/jsonlines#53": (
        "test_lines.test_only_a_line_feed_ends_a_line",
    ),
    "phiat/claude-esp#4": (
        "test_bombs.test_two_gibibytes_without_a_break_are_read_in_pieces_and_cost_one_record",
        "test_hostile.test_one_string_without_end_is_read_in_pieces_and_dropped",
    ),
    "daaain/claude-code-log#139 daaain/claude-code-log#16 topoteretes/cognee-integrations#275": (
        "test_lines.test_a_lone_surrogate_is_replaced_before_anything_is_stored",
    ),
    "MemPalace/mempalace#1102": ("test_lines.test_the_encoding_is_told_from_the_bytes",),
    "Arize-ai/coding-harness-tracing#88 vectorize-io/hindsight#1119 Amanlabh/footprint#2": (
        "test_lines.test_text_is_utf8_whatever_the_locale_says",
        "test_lines.test_broken_utf8_costs_a_character_and_no_record",
    ),
    "BasedHardware/omi#12958": (
        "test_lines.test_text_is_utf8_whatever_the_locale_says",
        "test_lines.test_the_encoding_is_told_from_the_bytes",
    ),
    # Recognising the format
    "garrytan/gbrain#4393 Digital-Process-Tools/claude-remember#543": (
        "test_detection.test_a_transcript_is_recognised_behind_two_hundred_lines_of_bookkeeping_less_one",
    ),
    "MemPalace/mempalace#2160 MemPalace/mempalace#677": (
        "test_detection.test_plain_text_is_never_imported",
        "test_detection.test_a_file_is_read_whatever_it_is_called",
        "test_detection.test_an_unknown_format_is_an_error_that_says_what_was_looked_at",
    ),
    "Superkikim/nexus-ai-chat-importer#73 P0luz/Ombre-Brain#101": (
        "test_detection.test_a_claude_array_is_not_taken_for_chatgpts_or_for_memories",
    ),
    "daugaard47/ChatGPT_Conversations_To_Markdown#23": (
        "test_detection.test_the_numbered_files_of_newer_chatgpt_zips_are_found_at_any_depth",
        "test_detection.test_an_unknown_format_is_an_error_that_says_what_was_looked_at",
    ),
    "ukogan/claude-migration-assistant#4": (
        "test_detection.test_a_manifest_alone_names_the_zips_to_fetch_and_never_their_links",
        "test_detection.test_a_folder_of_zips_is_read_with_the_manifest_beside_them",
    ),
    # Shapes inside
    "Nwflower/dsh-chat-import#26": ("test_claude_code.test_a_user_record_holds_the_users_words_or_not",),
    "Nwflower/dsh-chat-import#62": (
        "test_chatgpt.test_a_slim_export_without_children_metadata_and_current_node_is_read_by_parent",
        "test_chatgpt.test_the_oldest_exports_begin_below_a_root_that_is_not_there",
    ),
    "langchain-ai/langchain#23252": (
        "test_chatgpt.test_times_come_from_the_message_else_from_the_one_before_else_from_the_conversation",
        "test_chatgpt.test_a_message_is_imported_or_left_out_for_its_reason",
    ),
    "basicmachines-co/basic-memory#234": (
        "test_chatgpt.test_a_chain_of_three_thousand_messages_is_walked_without_recursion",
    ),
    "danny-avila/LibreChat#12313 moorcheh-ai/memanto#1634": (
        "test_chatgpt.test_cyclic_and_missing_parents_end_a_branch",
        "test_claude_code.test_parents_in_a_circle_end",
        "test_claude_ai.test_parents_in_a_circle_end",
    ),
    "ha0xin/chatgpt-multimodal-exporter#8": (
        "test_chatgpt.test_the_branch_of_the_current_node_is_imported_and_the_others_are_counted",
    ),
    "danny-avila/LibreChat#15229 danny-avila/LibreChat#13630": (
        "test_detection.test_the_numbered_files_of_newer_chatgpt_zips_are_found_at_any_depth",
        "test_chatgpt.test_a_slim_export_without_children_metadata_and_current_node_is_read_by_parent",
        "test_chatgpt.test_a_message_is_imported_or_left_out_for_its_reason",
        "test_chatgpt.test_one_bad_conversation_does_not_cost_the_others",
    ),
    "mohamed-chs/convoviz#47 mohamed-chs/convoviz#48": (
        "test_chatgpt.test_a_conversation_without_a_title_is_imported",
        "test_chatgpt.test_overlapping_shards_are_one_conversation",
        "test_chatgpt.test_of_two_copies_of_a_conversation_the_one_updated_last_says_which_branch_counts",
    ),
    "yjg30737/pyqt-openai#211": (
        "test_chatgpt.test_a_message_is_imported_or_left_out_for_its_reason",
        "test_wrong_types.test_a_field_that_is_missing_is_no_error_either",
    ),
    "osteele/claude-chat-viewer#5": ("test_claude_ai.test_a_block_that_is_no_text_costs_that_block_alone",),
    "Superkikim/nexus-ai-chat-importer#76": (
        "test_claude_ai.test_a_message_of_files_alone_is_counted_as_an_attachment",
        "test_arguments.test_counts_that_do_not_add_up_fail_the_test_that_imports",
    ),
    "Superkikim/nexus-ai-chat-importer#63 lugia19/Claude-QoL#43": (
        "test_claude_ai.test_a_paste_is_the_users_words_and_an_attached_file_is_counted",
    ),
    "kenn-io/agentsview#401 anthropics/claude-code#86980 anthropics/claude-code#83103 giulio333/ClaudeLens#245": (
        "test_claude_code.test_messages_sent_while_the_assistant_worked_are_imported_once",
    ),
    "bytedance/deer-flow#3117": (
        "test_claude_code.test_a_user_record_holds_the_users_words_or_not",
        "test_claude_ai.test_a_block_that_is_no_text_costs_that_block_alone",
    ),
    "open-webui/open-webui#23505": (
        "test_chatgpt.test_what_newer_exports_add_to_a_conversation_is_no_obstacle",
        "test_wrong_types.test_a_wrong_value_at_any_field_of_a_record_spoils_no_other_record",
    ),
    # Identity, duplicates, forks
    "ccusage/ccusage#1635 ccusage/ccusage#1762 ccusage/ccusage#976 ccusage/ccusage#797": (
        "test_again.test_replies_that_share_a_message_id_across_sessions_are_all_kept",
        "test_again.test_a_resumed_a_forked_and_a_copied_session_collapse",
    ),
    "anthropics/claude-code#78171 anthropics/claude-code#35800 obra/superpowers#944": (
        "test_claude_code.test_subagents_of_any_layout_are_counted_and_not_imported",
    ),
    "get-engram/engram#254 nowledge-co/community#40 BasedHardware/omi#8075 BasedHardware/omi#11928": (
        "test_again.test_the_same_export_adds_nothing_and_a_longer_one_only_what_is_new",
    ),
    "unsloth#8561": ("test_again.test_what_the_user_deleted_stays_deleted_unless_asked_for",),
    # Size, archives, numbers, times, credentials
    "danny-avila/LibreChat#10011": ("test_hostile.test_a_large_export_is_streamed",),
    "Superkikim/nexus-ai-chat-importer#45 chatboxai/chatbox#3775": (
        "test_hostile.test_a_large_export_in_an_archive_is_streamed",
    ),
    "OtterMind/Chat2DB#1842 lire1131/dsh-undo-savepoint#26": (
        "test_hostile.test_names_that_lead_out_of_an_archive_write_nothing",
        "test_bombs.test_a_zip_that_would_inflate_to_four_gibibytes_is_refused",
    ),
    "meridianlabs-ai/inspect_scout#52 ICRAR/ijson#139 benchflow-ai/benchflow#409": (
        "test_lines.test_nan_and_infinity_are_no_values_and_no_error",
    ),
    "ICRAR/ijson: an integer of more digits than it can hold": (
        "test_lines.test_an_integer_of_five_thousand_digits_is_malformed_not_fatal",
    ),
    "KnugiHK/WhatsApp-Chat-Exporter#169 open-webui/open-webui#2029 vectorize-io/hindsight#1568": (
        "test_jsonl.test_times_in_every_usual_form_are_read",
    ),
    "voitta-ai/voitta-rag#54 supermemoryai/claude-supermemory#122 anthropics/claude-code#63593": (
        "test_redaction.test_credentials_are_replaced_and_counted_before_anything_is_stored",
        "test_redaction.test_a_credential_split_over_parts_is_not_put_together_unseen",
    ),
    # Not reported by anyone, and likely all the same
    "a key twice in a record": ("test_lines.test_of_a_repeated_key_the_last_value_counts",),
    "an empty file, [], null, text": (
        "test_lines.test_a_sole_file_without_history_is_an_error_that_names_it",
        "test_lines.test_an_empty_file_beside_others_is_no_error",
    ),
    "arrays one after another": ("test_lines.test_concatenated_arrays_and_scalars_in_them_are_read_and_counted",),
    "encrypted members": ("test_hostile.test_an_encrypted_member_is_named_and_the_others_are_read",),
    "links out of a folder": ("test_hostile.test_links_in_a_folder_are_not_followed",),
    "pipes and devices": ("test_hostile.test_pipes_and_devices_are_not_opened",),
}


@pytest.mark.parametrize("report", REPORTS)
def test_what_was_reported_elsewhere_has_a_test_here(report: str) -> None:
    for name in REPORTS[report]:
        module, test = name.split(".")
        assert callable(getattr(import_module(f"tests.importers.{module}"), test))

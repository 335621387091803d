"""Which word of a wish chose each time, fold, group and table of its answer, and would it have chosen another one?

The checks look at the finished answer, and know nothing of the rules that made it. Each asks about one kind of choice
that was made by default, or by a word that names something else as well.
"""

from streamhouse.planner.language.amounts_of_others import amounts_of_others
from streamhouse.planner.language.asked_how import asked_how
from streamhouse.planner.language.begins_of_times import begins_of_times
from streamhouse.planner.language.bounds_of_counted import bounds_of_counted
from streamhouse.planner.language.chosen_groups import (
    added_or_both,
    average_of_groups,
    column_of_several,
    flag_as_group,
    plural_group,
    plural_time,
)
from streamhouse.planner.language.codes_as_words import code_or_column
from streamhouse.planner.language.counts_of_parts import COUNTS_OF_PARTS
from streamhouse.planner.language.deeds_by_position import (
    deed_of_others,
    extreme_in_name,
    total_of_one,
    value_of_farther_row,
)
from streamhouse.planner.language.deeds_of_other_rows import deeds_of_other_rows
from streamhouse.planner.language.deeds_of_two_times import deeds_of_two_times
from streamhouse.planner.language.deeds_shown import deeds_shown
from streamhouse.planner.language.denied_deeds import denied_deeds
from streamhouse.planner.language.doubtful_verbs import shown_or_so, state_of_verb, sum_without_rows
from streamhouse.planner.language.figures_of_two_times import figures_of_two_times
from streamhouse.planner.language.flags_of_doers import flags_of_doers
from streamhouse.planner.language.named_by_part import NAMED_BY_PART
from streamhouse.planner.language.now_of_others import now_of_others
from streamhouse.planner.language.numbers_of_other_deeds import numbers_of_other_deeds
from streamhouse.planner.language.other_times import (
    oldest_by_age,
    time_for_which,
    time_of_noun,
    time_of_verb,
    time_when_done,
    value_or_time,
)
from streamhouse.planner.language.rates_as_rows import rate_as_figure
from streamhouse.planner.language.rates_of_rows import rates_of_rows
from streamhouse.planner.language.rows_of_average import rows_of_average
from streamhouse.planner.language.rows_of_which import (
    are_or_were,
    average_of_parts,
    of_some,
    parts_listed,
    people_as_number,
    rows_of_another,
    thing_and_deed,
)
from streamhouse.planner.language.rows_or_amounts import ROWS_OR_AMOUNTS
from streamhouse.planner.language.rows_or_pieces import rows_or_pieces
from streamhouse.planner.language.said_of_none import said_of_none
from streamhouse.planner.language.shares_of_each import share_of_each
from streamhouse.planner.language.shares_of_what import rows_in_sum, share_of_part
from streamhouse.planner.language.soft_choices import SOFT_CHOICES
from streamhouse.planner.language.states_of_empty import state_of_empty
from streamhouse.planner.language.total_of_rows import total_of_rows
from streamhouse.planner.language.unsaid_folds import (
    joined_counts,
    long_or_far,
    rows_uncounted,
    sum_of_each,
    things_or_deeds,
    things_without_rows,
)
from streamhouse.planner.language.values_of_two import value_of_two
from streamhouse.planner.language.values_who_did import rows_of_values
from streamhouse.planner.language.values_without import values_without
from streamhouse.planner.language.verbs_shown import verbs_shown
from streamhouse.planner.language.weak_rows import weakly_named_rows
from streamhouse.planner.language.weaker_columns import number_of_rows_before, part_of_column, rows_or_their_number
from streamhouse.planner.language.what_as_number import what_as_number
from streamhouse.planner.language.who_by_time import people_by_time

WORDS_THAT_CHOOSE = (
    shown_or_so, state_of_verb, sum_without_rows,
    time_of_verb, time_of_noun, time_when_done, time_for_which, oldest_by_age, value_or_time,
    weakly_named_rows, parts_listed, average_of_parts, thing_and_deed, rows_of_another, of_some, are_or_were,
    people_as_number,
    share_of_part, rows_in_sum, column_of_several, flag_as_group, average_of_groups, added_or_both,
    plural_group, plural_time,
    sum_of_each, rows_or_pieces, rows_uncounted, joined_counts, things_without_rows, things_or_deeds, long_or_far,
    *NAMED_BY_PART,
    *ROWS_OR_AMOUNTS,
    *COUNTS_OF_PARTS,
    *SOFT_CHOICES,
    now_of_others, rows_of_average, figures_of_two_times, said_of_none, flags_of_doers, deeds_shown,
    deeds_of_two_times,
    values_without, amounts_of_others, numbers_of_other_deeds, deeds_of_other_rows,
    value_of_farther_row, deed_of_others, extreme_in_name, total_of_one,
    bounds_of_counted, begins_of_times, verbs_shown, denied_deeds, rates_of_rows,
    rate_as_figure, part_of_column, number_of_rows_before, rows_or_their_number, value_of_two,
    what_as_number, state_of_empty, share_of_each, people_by_time, rows_of_values, total_of_rows, code_or_column,
    asked_how,
)  # fmt: skip
"""The checks, in the order in which they ask."""

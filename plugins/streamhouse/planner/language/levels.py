"""How well words name something of a catalog: levels of the quality of a sense, which `senses` and `lexicon` give.

A level is named for what reaches it and no higher one. A condition asks for the level that its answer needs: a wrong
guess costs more where rows are left out than where a column more is shown.
"""

NAME = 1.0
"""Its name or a synonym, as the catalog writes it."""

NAME_OR_DEED = 0.97
"""Also a thing with what was done to it: "coupons redeemed"."""

WHOLE_NAME = 0.95
"""Also a name without a word that only says of what kind it is: "fare", of `fare_amount`."""

SAME_FORM = 0.93
"""A name in another form does not reach it: "phoned", of "phone"."""

NEARLY_NAME = 0.9
"""Also a name with a word of another kind, or beside its thing: "publication year", of the `year` of books."""

SAME_WORD = 0.89
"""What is made of a name does not reach it: "borrowers", of "borrow"."""

ANY_FORM = 0.85
"""Also a name in another form: "viewed", of "view"."""

LAST_WORD = 0.8
"""Also the last word of a name, or what its description begins with."""

COMMON_WORD = 0.7
"""Also a word that many columns have, such as "time" or "date"."""

LAST_WORD_ANY_FORM = 0.66
"""Also the last word of a name in another form."""

ENDING = 0.6
"""Also the last words of a name that are no name of their own."""

BEGINNING = 0.5
"""Also the first words of a name."""

NEAR = 0.3
"""How much less well than by the best of its senses a phrase may name another one that counts, too."""

"""Words and numbers of SQL in letters and digits of other scripts, which some readers take for those of ASCII.

Python's `upper` makes `FLOAT` of `ﬂoat` and `CROSS` of `croß`, and its numbers have digits of every
script. What has a meaning of its own is written in ASCII; a name may have any letters.
"""

from collections.abc import Collection, Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

_QUOTED = frozenset({TokenType.STRING, TokenType.RAW_STRING, TokenType.IDENTIFIER})


def other_letters(tokens: Sequence[Token], text: str, words: Collection[str]) -> Iterator[tuple[Token, str, str]]:
    """Tokens that are no names, and have letters or digits other than those of ASCII; each, what is wrong, and a hint.

    Args:
        tokens: Of the text.
        text: What was cut into them.
        words: In upper case, those that have a meaning of their own.
    """
    for place, token in enumerate(tokens):
        written = text[token.start : token.end + 1]
        if written.isascii() or token.token_type in _QUOTED:
            continue
        plain = {word for word in (written.upper(), written.casefold().upper()) if word.isascii()}
        calls = place + 1 < len(tokens) and tokens[place + 1].token_type == TokenType.L_PAREN
        if any(not (letter.isascii() or letter.isalpha()) for letter in written):
            yield token, f"'{written}' has digits or signs that are not ASCII", f"for a name, write `{written}`"
        elif token.token_type != TokenType.VAR or plain & {*words} or (plain and calls):
            hint = f"write {min(plain, default='it')} in ASCII; for a name, write `{written}`"
            yield token, f"'{written}' has letters that are not ASCII", hint

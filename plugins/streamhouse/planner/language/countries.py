"""As in "Danish boats": those whose country the catalog calls Denmark."""

from dataclasses import replace

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem, stems

_COUNTRIES = {
    "american": ("United States", "USA", "US"), "australian": ("Australia",), "austrian": ("Austria",),
    "belgian": ("Belgium",), "brazilian": ("Brazil",), "british": ("United Kingdom", "Great Britain", "UK"),
    "bulgarian": ("Bulgaria",), "canadian": ("Canada",), "chinese": ("China",), "croatian": ("Croatia",),
    "czech": ("Czech Republic", "Czechia"), "danish": ("Denmark",), "dutch": ("The Netherlands", "Netherlands"),
    "english": ("England",), "estonian": ("Estonia",), "finnish": ("Finland",), "french": ("France",),
    "german": ("Germany",), "greek": ("Greece",), "hungarian": ("Hungary",), "icelandic": ("Iceland",),
    "indian": ("India",), "irish": ("Ireland",), "italian": ("Italy",), "japanese": ("Japan",),
    "korean": ("South Korea", "Korea"), "latvian": ("Latvia",), "lithuanian": ("Lithuania",),
    "mexican": ("Mexico",), "norwegian": ("Norway",), "polish": ("Poland",), "portuguese": ("Portugal",),
    "romanian": ("Romania",), "russian": ("Russia",), "scottish": ("Scotland",), "slovak": ("Slovakia",),
    "slovenian": ("Slovenia",), "spanish": ("Spain",), "swedish": ("Sweden",), "swiss": ("Switzerland",),
    "turkish": ("Turkey",), "ukrainian": ("Ukraine",), "welsh": ("Wales",),
}  # fmt: skip


def with_countries(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the name of the country for an adjective that the catalog does not know otherwise."""
    for at, token in enumerate(tokens):
        if token.kind != "word" or token.word not in _COUNTRIES:
            continue
        known = lexicon.mention(tokens, at)
        if known is not None and known.best >= NEARLY_NAME - 0.1:
            continue
        for name in _COUNTRIES[token.word]:
            if any(s.kind == "value" and s.quality >= NEARLY_NAME for s in lexicon.meanings(stems(name))):
                several = " " in name  # of which "the" alone would say nothing
                put = replace(token, text=name, word=name if several else name.lower(), stem=stem(name))
                put = replace(put, text=f"'{name}'", stem=name.lower(), kind="quoted") if several else put
                return (*tokens[:at], put, *with_countries(tokens[at + 1 :], lexicon))
    return tokens

"""Whatever a file holds, the reader gives a definition or errors of ours, each with a place and a remedy."""

from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamhouse.errors import DefinitionError, StreamhouseError
from streamhouse.registry.problems import flat
from streamhouse.registry.read_action import read_action
from streamhouse.registry.read_flow import read_flow

ROOT = Path(__file__).parents[3]
ACTIONS = [f.read_text(encoding="utf-8") for f in sorted((ROOT / "actions").rglob("*.sql"))]
FLOWS = [f.read_text(encoding="utf-8") for f in sorted((ROOT / "flows").rglob("*.yaml"))]
WORDS = "[ ] { } : ' \" null true 1 1.5 0x1 # */ /* , ( ) ; ? @ ` $ ~ % | > é & * SELECT FROM :x {{ -- --- !!x"
PIECES = st.sampled_from([*WORDS.split(" "), "", "", "", " ", "\n", "\t", "- ", "--- */", ": ", "\x00", "\\"])


@st.composite
def mangled(draw: st.DrawFn, texts: list[str]) -> str:
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(PIECES) + text[start + draw(st.sampled_from([0, 0, 1, 3, 10, 40])) :]
    return text


def check(error: StreamhouseError, text: str) -> None:
    lines = text.split("\n")
    for one in flat([error]):
        assert isinstance(one, DefinitionError)
        assert one.hint, str(one)
        assert one.at is not None
        assert 1 <= one.at.line <= len(lines)
        assert one.at.column >= 1


@settings(max_examples=300)
@given(mangled(ACTIONS))
def test_actions(text: str) -> None:
    try:
        read_action(text, "f")
    except StreamhouseError as error:
        check(error, text)


@example("flow: shop\ntables:\n  ods.orders: {tiers: {hot: [")
@settings(max_examples=300)
@given(mangled(FLOWS))
def test_flows(text: str) -> None:
    try:
        read_flow(text, "f")
    except StreamhouseError as error:
        check(error, text)

"""Checks a document against a pydantic model, and says in plain words what is wrong and where."""

import types
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from streamhouse.errors import DefinitionError, FileFormatError, Location, UnknownKeyError
from streamhouse.model.types import NAME, TABLE_NAME
from streamhouse.registry.problems import Problems
from streamhouse.registry.wording import MISSING, SHAPES, SYNONYMS, named, shape_hint, shown
from streamhouse.registry.yaml_nodes import Document, KeyPath

M = TypeVar("M", bound=BaseModel)
_COMPARE = "compare it with a file that works; `streamhouse init DIR` makes some"
_FALLBACKS = {
    "text": "put it in quotes",
    "a whole number": "write digits only, such as 4",
    "true or false": "write true or false, without quotes",
    "a duration": "write a number with its unit, such as 30s, 5m, 1h, 7d",
}


def known_keys(model: type[BaseModel]) -> dict[str, Any]:
    """Keys a person may write for `model`, each with its annotation; excluded fields are ours to fill."""
    return {f.alias or name: f.annotation for name, f in model.model_fields.items() if not f.exclude}


def keep_known(data: Any, kind: Any, document: Document, problems: Problems, path: KeyPath = ()) -> Any:
    """A copy of `data` without the keys that `kind` lacks; each of these becomes a problem.

    Args:
        data: The part of `document` at `path`.
        kind: A model, or an annotation of one of its fields.
        document: Gives the places.
        problems: Grows by one UnknownKeyError for each such key.
        path: Where `data` stands.
    """
    model, inner = _inside(_chosen(kind, data))
    if model is not None and isinstance(data, dict):
        known = _known(model)
        known_data: dict[str, Any] = {}
        for key, value in data.items():
            if key in known:
                known_data[key] = keep_known(value, known[key], document, problems, (*path, key))
            else:
                problems.add(_unknown_key(key, known, document.key_at((*path, key))))
        return known_data
    if inner is not None and isinstance(data, dict):
        return {k: keep_known(v, inner, document, problems, (*path, k)) for k, v in data.items()}
    if inner is not None and isinstance(data, list):
        return [keep_known(v, inner, document, problems, (*path, i)) for i, v in enumerate(data)]
    return data


def build(model: type[M], data: Mapping[str, Any], document: Document, problems: Problems) -> M | None:
    """The model, or None when `data` does not fit; then `problems` says why.

    Args:
        model: What to build.
        data: Its fields, with keys as in the file where they come from it.
        document: Gives the places; a path it lacks counts as its nearest parent.
        problems: Grows by one FileFormatError for each misfit.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # pydantic calls a list too short, too, when an item of it is wrong.
        found = [e for e in error.errors(include_url=False) if e["type"] != "too_short" or not e["input"]]
        problems.add(*(_plain(e, document) for e in found))
        return None


def table_name_error(name: str, path: KeyPath, document: Document) -> FileFormatError:
    """For a table name that is not `layer.name`, written as the last key or the value of `path`."""
    layer, dot, _ = name.partition(".")
    close = get_close_matches(layer, ("ods", "dwd", "dws", "ads"), n=1) if dot else []
    if close and layer != close[0]:
        return FileFormatError(
            f"'{name}' is in no layer",
            at=document.best_at(path),
            hint=f"did you mean '{close[0]}{name[len(layer) :]}'?",
        )
    return FileFormatError(
        f"'{name}' is no table name",
        at=document.best_at(path),
        hint="write layer.name with the layer ods, dwd, dws or ads, in lower case: dwd.sales",
    )


def name_error(what: str, name: str, path: KeyPath, document: Document) -> FileFormatError:
    """For a name with other characters than our names have; `what` says what it names."""
    return FileFormatError(
        f"'{name}' cannot name {what}",
        at=document.key_at(path) if path and path[-1] == name else document.value_at(path),
        hint="a name begins with a letter and has lower-case letters, digits and _",
    )


@cache
def _known(model: type[BaseModel]) -> dict[str, Any]:
    return known_keys(model)


@cache
def _inside(kind: Any) -> tuple[type[BaseModel] | None, Any]:
    """The model that `kind` is, or the annotation of the items that it holds."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind, None
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _inside(args[0])
    if origin in (Union, types.UnionType):
        return next((found for a in args if (found := _inside(a)) != (None, None)), (None, None))
    if origin is dict:
        return None, args[1]
    if origin in (tuple, list):
        return None, args[0]
    return None, None


def _chosen(kind: Any, data: Any) -> Any:
    """Of models that a key tells apart, the one whose word `data` has, and none for another word; else `kind`."""
    marks = [one.discriminator for one in getattr(kind, "__metadata__", ()) if getattr(one, "discriminator", None)]
    if not marks or not isinstance(data, dict):
        return kind
    [mark] = marks
    models = get_args(get_args(kind)[0])
    return next((m for m in models if data.get(mark) in get_args(m.model_fields[mark].annotation)), Any)


def _without_tags(loc: tuple[int | str, ...], data: Any) -> KeyPath:
    """The path of an error without pydantic's marks: of a wrong key, and of which of several models was tried."""
    path: list[int | str] = []
    for part in loc:
        is_tag = isinstance(data, dict) and part not in data and data.get("kind") == part
        if part == "[key]" or is_tag:
            continue
        path.append(part)
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            data = None
    return tuple(path)


def _unknown_key(key: str, known: Mapping[str, Any], at: Location) -> UnknownKeyError:
    error = UnknownKeyError(key, known, at=at)
    if SYNONYMS.get(key) in known:
        error.hint = f"did you mean '{SYNONYMS[key]}'?"
    return error


def _bounds_error(error: ErrorDetails, name: str, at: Location) -> DefinitionError:
    """Of a value that is of the right shape, and none of those that may be."""
    value, context = error["input"], error["ctx"]
    if error["type"] == "greater_than_equal":
        return FileFormatError(f"{name} is {value}, too small", at=at, hint=f"the least is {context['ge']}")
    if error["type"] == "less_than_equal":
        return FileFormatError(f"{name} is {value}, too large", at=at, hint=f"the most is {context['le']}")
    allowed = str(context["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
    close = get_close_matches(str(value), allowed, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"one of: {', '.join(allowed)}"
    return FileFormatError(f"{name} cannot be {shown(value)}", at=at, hint=hint)


def _plain(error: ErrorDetails, document: Document) -> DefinitionError:
    path = _without_tags(error["loc"], document.data)
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    name = named(path)
    key = path[-1] if path and isinstance(path[-1], str) else ""
    at = document.best_at(path)
    if kind == "missing":
        return FileFormatError(f"'{key}' is missing", at=document.key_at(path[:-1]), hint=MISSING.get(key, _COMPARE))
    if kind == "union_tag_not_found":
        hint = MISSING.get("kind", _COMPARE)
        return FileFormatError("'kind' is missing", at=document.key_at(path), hint=hint)
    if kind == "union_tag_invalid":
        at = document.best_at((*path, "kind"))
        return _bounds_error(
            {**error, "input": context["tag"], "ctx": {"expected": context["expected_tags"]}}, "kind", at
        )
    if value is None:
        return FileFormatError(f"{name} has no value", at=at, hint=shape_hint(path, "write one, or remove the key"))
    if kind == "string_pattern_mismatch":
        return _pattern_error(str(value), context["pattern"], path, document)
    if kind == "value_error":
        cause, _, remedy = str(context["error"]).partition("; ")
        message = cause if not key or cause.startswith(key) else f"{key}: {cause}"
        return FileFormatError(message, at=at, hint=remedy or _COMPARE)
    if kind in ("enum", "literal_error", "greater_than_equal", "less_than_equal"):
        return _bounds_error(error, name, at)
    if kind == "too_short":
        return FileFormatError(f"{name} is empty", at=at, hint=MISSING.get(key, _COMPARE))
    if kind in SHAPES:
        hint = shape_hint(path, _FALLBACKS.get(SHAPES[kind], _COMPARE))
        return FileFormatError(f"{name} must be {SHAPES[kind]}, not {shown(value)}", at=at, hint=hint)
    return FileFormatError(f"{name}: {error['msg'].lower()}", at=at, hint=_COMPARE)


def _pattern_error(text: str, pattern: str, path: KeyPath, document: Document) -> FileFormatError:
    if pattern == TABLE_NAME:
        return table_name_error(text, path, document)
    if pattern == NAME:
        return name_error(f"a {path[-1]}" if path[-1] == "flow" else f"an {path[-1]}", text, path, document)
    return FileFormatError(
        f"'{text}' is no {path[-1]}", at=document.best_at(path), hint=shape_hint(path, "use other characters")
    )

"""Makes methods from what users write, such as ``minhash:hashes=256,min_similarity=0.7``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import Field, fields, is_dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import get_annotations, isabstract
from math import isfinite
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..exceptions import InvalidOption
from ..text.tokenization import Tokenizer
from .base import Method
from .exact import Exact, Sentences
from .manber import Manber
from .minhash import BottomK, MinHash
from .nilsimsa import Nilsimsa
from .simhash import Simhash
from .tags import Tags
from .word_sets import Keywords, Words

_KINDS: tuple[type[Method], ...] = (
    *(Exact, Simhash, MinHash, BottomK, Words),
    *(Nilsimsa, Sentences, Manber, Tags, Keywords),
)
#: The shipped methods by name.
METHODS: dict[str, type[Method]] = {kind.name: kind for kind in _KINDS}


def open_method(written: str, tokenizer: Tokenizer | None = None, option: str = "method") -> Method:
    """Return a method.

    :param written: a name or an import path, which parameters may follow: ``simhash:128``,
        ``simhash:bits=128,ties=set``. A parameter without a name is the first one.
    :param tokenizer: for methods that compare words, instead of the shipped one.
    :param option: the option's name, for errors.
    :raises InvalidOption: if there is no such method, or no such parameter or value.
    """
    name, _, given = written.strip().partition(":")
    kind = _kind(name, written, option)
    parameters = {each.name: each for each in _parameters(kind)}
    values: dict[str, Any] = {}
    for place, part in enumerate(filter(None, given.split(","))):
        key, is_named, value = (piece.strip() for piece in part.partition("="))
        if not is_named:
            key, value = (next(iter(parameters), ""), key) if not place else (key, "")
        if key not in parameters or (not is_named and place):
            known = ", ".join(parameters) or "no parameters"
            raise InvalidOption(option, written, f"{name} with parameters named {known}")
        if key in values:
            raise InvalidOption(option, written, f"{name} with {key} given once")
        values[key] = _converted(kind, key, value, f"{option} {name}: {key}")
    if tokenizer is not None and any(each.name == "tokenizer" for each in _fields(kind)):
        values["tokenizer"] = tokenizer
    try:
        return kind(**values)
    except InvalidOption as error:
        raise error.renamed(f"{option} {name}: {error.option}") from None
    except TypeError as error:
        # A method of the user's own may have parameters without defaults.
        raise InvalidOption(option, written, f"a method that can be made ({error})") from error


def identity_of(method: Method) -> str:
    """Return what distinguishes a method from others: its name or import path, and parameters.

    A method of the user's own can have a ``version``, to be raised when its values change.
    """
    kind = type(method)
    path = f"{kind.__module__}.{kind.__qualname__}"
    name = kind.name if METHODS.get(getattr(kind, "name", "")) is kind else path
    values = [f"{each.name}={getattr(method, each.name)}" for each in _parameters(kind)]
    return f"{name}-{getattr(method, 'version', 1)}:{','.join(values)}"


def _kind(name: str, written: str, option: str) -> type[Method]:
    if name in METHODS:
        return METHODS[name]
    if "." not in name:
        close = get_close_matches(name, METHODS, 1)
        nearest = f"'{close[0]}', or another of " if close else "one of "
        wanted = f"{nearest}{', '.join(METHODS)}, or an import path"
        raise InvalidOption(option, written, wanted)
    module, _, attribute = name.rpartition(".")
    try:
        kind = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidOption(option, written, f"a valid import path ({error})") from error
    if not (isinstance(kind, type) and issubclass(kind, Method)) or isabstract(kind):
        raise InvalidOption(option, written, "the import path of a subclass of Method")
    if not hasattr(kind, "name"):
        raise InvalidOption(option, written, "a method whose class has a name")
    return kind


def _fields(kind: type[Method]) -> tuple[Field[Any], ...]:
    return fields(kind) if is_dataclass(kind) else ()


def _parameters(kind: type[Method]) -> Iterator[Field[Any]]:
    """Yield the parameters that users can write, those of the method itself first."""
    own = set(get_annotations(kind))
    shown = [each for each in _fields(kind) if not each.metadata.get("hidden")]
    yield from sorted(shown, key=lambda each: each.name not in own)


def _converted(kind: type[Method], key: str, value: str, option: str) -> Any:
    wanted = get_type_hints(kind)[key]
    choices = (True, False) if wanted is bool else get_args(wanted)
    if wanted is bool or get_origin(wanted) is Literal:
        named = {str(choice): choice for choice in choices}
        if value not in named:
            raise InvalidOption(option, value, f"one of {', '.join(named)}")
        return named[value]
    names = {int: "a whole number", float: "a finite number", str: "a text"}
    if wanted not in names:
        raise InvalidOption(option, value, f"left out: a {wanted} cannot be written")
    with suppress(ValueError):
        converted = wanted(value)
        if wanted is not float or isfinite(converted):
            return converted
    raise InvalidOption(option, value, names[wanted])

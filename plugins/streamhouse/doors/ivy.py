"""What a settings file of Ivy that `streamhouse.yaml` names may have: where jars come from, and no code. Pure."""

from xml.etree import ElementTree

_OF_RESOLVERS = "resolvers chain dual ibiblio url filesystem mirroredurl ivy artifact"
_OTHERS = "ivysettings ivy-settings settings property credentials caches cache ttl modules module statuses status"
_ELEMENTS = frozenset(f"{_OF_RESOLVERS} {_OTHERS} timeout-constraints timeout-constraint".split())


def refused_part(text: str) -> str | None:
    """What of the file is not taken, in words; None: nothing.

    Example:
        >>> refused_part("<ivysettings><resolvers><ibiblio name='a'/></resolvers></ivysettings>")
        >>> refused_part("<ivysettings><typedef name='a' classname='b.C'/></ivysettings>")
        'the element <typedef>'
    """
    if "<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper():
        return "a DOCTYPE"
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return f"no XML: {error}"
    for element in root.iter():
        if element.tag not in _ELEMENTS:
            return f"the element <{element.tag}>"
    return None

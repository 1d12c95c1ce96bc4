"""Names the file that an address leads to, whatever its size, host and version."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from .addresses import naming_parameters, path_of
from .file_suffixes import is_file

#: So many addresses may stand within each other.
_MAX_WITHIN = 3
#: Folders of longer paths that are looked at, and characters of an address.
_MAX_FOLDERS, _MAX_ADDRESS = 5, 2000
#: A shorter name tells no file from others, nor does a number without more digits.
_MIN_NAME = 3
#: Names of files and folders that are the same for many files, counted or not.
_GENERIC = re.compile(
    r"(?:\d{1,3}|(?:_?image|img|photo|picture|pic|foto|bild|thumb|front|back|main|cover|title|"
    r"index|viewer|show|open|get|display|render|resize|optimi[sz]e|proxy|media|"
    r"static|assets?|public|"
    r"content|cdn|storage|uploads?|data|doc|document|file|pdf|attachment|report|minutes|"
    r"agenda|protocol|protokoll|brochure|data-?sheet|flyer|plan|manual|slides|paper|full-?text|"
    r"player|embed|video|videoseries|audio|watch|stream|playlist|master|track|episode|export|d)s?"
    r"(?:[-_ ]?\(?\d{1,3}\)?)?)?",
    re.IGNORECASE,
)
#: Names of files and folders that say in which size, quality or view something is shown.
_SHOWN_AS = re.compile(
    r"(?:thumb(?:nail)?s?|small|medium|large|big|orig(?:inal)?s?|full(?:size)?|preview|zoom|"
    r"(?:hq|mq|sd|maxres)default|edit|copy|view|download|pub(?:html)?|viewform|\d{1,4}x\d{0,4})?",
    re.IGNORECASE,
)
#: The same of folders alone: sizes, versions and settings ("w_300,c_fill").
_OF_SIZE = re.compile(
    r"[whs]_?\d{2,4}|v\d{6,}|(?:[a-z]{1,2}_[^,/]+,)+[^/]*|"
    r"[1-9]\d?00|320|480|640|720|768|1024|1080|1280|1440|1920|2048"
)
#: A server of images (IIIF) and YouTube name size and format behind the picture, and caches have
#: hashes of these as folders.
_BESIDE_NAME = re.compile(
    r"/(?:full|square|(?:pct:)?[\d.,]+)/[\w.,:!^]+/!?[\d.]+/(?:default|native|colou?r|gray|bitonal)"
    r"\.\w+$|(?<=/vi/.{11})/\w+\.\w+$|(?<=/vi_webp/.{11})/\w+\.\w+$|/cache/[\da-f]{32}(?=/)"
)
_SCRIPT = re.compile(r"\.(?:php\d?|aspx?|ashx|axd|jspx?|cgi|cfm|pl|do|dll|html?)$", re.IGNORECASE)
#: Parameters with the address of what a script delivers, be it a file's or not.
_SOURCES = frozenset("url uri src href image img file".split())
#: Parameters that say how something is shown, or from where it was asked for.
_HOW = re.compile(
    r"dpr|auto|sz?|m[wh]|(?:max|min|thumb|bg|ix|utm)[\w-]*|resi[zs]e|res|scale|type|ext|zoom|blur|"
    r"dl|view|variant|ssl|watermark|ratio|style|si|feature|usp|tab|ab_channel|"
    r"color|visual|hide_\w+|"
    r"show_\w+|output|embedded|callback|app_id|player_id|parent|domain|hostname|download",
    re.IGNORECASE,
)
_FILM = re.compile(r"(?:^|&)v=([\w-]{6,})")


def name_of_file(address: str, short: Callable[[str], str], n_within: int = _MAX_WITHIN) -> str:
    """Return what tells a file from others; empty if nothing in its address does.

    That is its name; where that says nothing, the parameters that a script has for it, or the
    folders before it.

    :param short: returns the last part of a path without its format, and whatever else differs
        from copy to copy.
    :param n_within: so many addresses in parameters are followed.
    """
    address = address.strip()[:_MAX_ADDRESS]
    query = address.partition("#")[0].partition("?")[2]
    path = _BESIDE_NAME.sub("", unquote(path_of(address)).rstrip("/"))
    *folders, last = path.split("/")
    is_script = _SCRIPT.search(last) is not None
    name = _SCRIPT.sub("", last) if is_script else short(last)
    is_told = _is_told(name)
    if query and (is_script or not is_file(path)):
        source = _source(query, is_any=not is_told) if n_within else ""
        if source:
            return name_of_file(source, short, n_within - 1)
        if (is_script or not is_told) and (named := _named(name, query)):
            return named
    return name if is_told else _with_folders(folders, name)


def _is_told(name: str) -> bool:
    is_same = _GENERIC.fullmatch(name) or _SHOWN_AS.fullmatch(name)
    return len(name) >= _MIN_NAME and not is_same


def _source(query: str, *, is_any: bool) -> str:
    """Return the address within a query of what a script delivers.

    :param is_any: whether an address that is not that of a file may be returned.
    """
    for param in query.split("&"):
        name, _, value = param.partition("=")
        value = unquote(value)
        if is_file(path_of(value)):
            return value
        if is_any and name.lower() in _SOURCES and "/" in value:
            return value
    return ""


def _named(name: str, query: str) -> str:
    """Return what the parameters of a script say of what it delivers."""
    if name == "watch" and (film := _FILM.search(query)):
        return film[1]
    named = [pair for pair in naming_parameters(query) if not _HOW.fullmatch(pair[0])]
    return "&".join(sorted(f"{name}={unquote(value)}" for name, value in named))


def _with_folders(folders: list[str], name: str) -> str:
    """Return a name that many files have with the folders that tell it from these."""
    told = [each for each in folders[-_MAX_FOLDERS:] if not _SHOWN_AS.fullmatch(each)]
    # What looks like a size may be the number of an ad.
    without_size = [each for each in told if not _OF_SIZE.fullmatch(each)]
    parts = [] if _SHOWN_AS.fullmatch(name) else [name]
    for folder in reversed(without_size or told):
        # A number of a folder is that of an ad, and one of a file that of its first picture.
        if folder.isdecimal() or not _GENERIC.fullmatch(folder):
            parts.insert(0, folder)
            if len(folder) >= _MIN_NAME:
                break
    return "/".join(parts)

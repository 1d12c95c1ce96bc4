"""Names of sections, parameters and segments of generated sites."""

from __future__ import annotations

#: By what they are for; a site draws from them.
NAMES = {
    "articles": "news blog magazine reports stories archive journal notes reviews travel science",
    "catalogue": "shop store catalogue market products goods parts supplies",
    "manual": "docs manual handbook reference guide",
    "help": "help support service answers advice",
    "forum": "forum talk board community",
    "calendar": "calendar events agenda diary",
    "sign in": "login signin account",
    "session": "sid session PHPSESSID sessionid token visit",
    "path session": "jsessionid sid session",
    "tracking": "utm_source utm_medium utm_campaign ref from src campaign fbclid gclid cid",
    "sort": "sort order orderby by sortby",
    "view": "view layout display mode style",
    "print": "print printable printview",
    "amp": "amp mobile lite",
    "page": "page p pg nr",
    "start": "start offset skip first",
    "id": "id pid item article sku",
    "version": "v ver version rev",
    "language": "lang hl locale language",
    "facet": "color size brand material year genre country shape",
    "idle facet": "instock delivery currency unit offers shipping",
    "list": "list all index items browse",
    "syllable": "north river stone amber cedar harbour meadow silver willow copper",
}
#: What parameters that mean nothing may be, by what they are for.
VALUES = {
    "facet": "red green blue small large oak steel cotton paper glass round plain heavy".split(),
    "sort": "price date name rating asc desc".split(),
    "view": "grid list table wide".split(),
    "version": [str(number) for number in range(10_000, 10_040)],
    "page": [str(number) for number in range(2, 9)],
    "language": "en de fr zh".split(),
    "idle facet": "1 yes any eur".split(),
    "tracking": "mail feed top side".split(),
}

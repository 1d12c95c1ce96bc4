"""Sites whose addresses look like those of lists: of one program, or with numbers like years."""

from __future__ import annotations

from typing import Any

from tests.promises.harness import HOME, PromiseSpider, Site, situation
from tests.promises.situations_details import DESCRIPTION, page

_ROOMS = (12, 14, 17, 21, 23)


def _hotels(site: Site, address: str, first_number: int) -> Any:
    """Hotels of one title and one text, whose numbers of rooms differ."""
    first, second = (f"<p>{part}</p>" for part in DESCRIPTION)
    for n, rooms in enumerate(_ROOMS):
        body = (
            f"<main><article><h1>Hotel</h1>{first}<p>We have {rooms} rooms.</p>{second}"
            "</article></main>"
        )
        site.put(address.format(first_number + n), page("Hotel", body), content=str(n))
    site.index(*(address.format(first_number + n) for n in range(len(_ROOMS))), at="/index")
    return type("Spider", (PromiseSpider,), {"start_urls": [f"{HOME}/index"]})


#: Addresses of the pages of a site, and the number of the first one.
_ADDRESSES = {
    "one_program": ("/index.php?id={}", 17),
    "the_front_page": ("/?p={}", 17),
    "numbers_like_years": ("/hotel/{}", 2001),
    "acts_of_a_year": ("/act/1998/{}", 7),
}


def _add_addresses() -> None:
    for name, (address, first_number) in _ADDRESSES.items():

        def build(site: Site, address: str = address, first_number: int = first_number) -> Any:
            return _hotels(site, address, first_number)

        build.__name__ = f"hotels_at_addresses_of_{name}"
        situation(contents=len(_ROOMS))(build)


_add_addresses()

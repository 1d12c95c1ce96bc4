"""The duplicates of the site: which text is served under which additional URLs.

The answer to each case is written down in ``expected.json``: the pages of one content, of which
a crawl has to store exactly one.
"""

from __future__ import annotations

#: Session ids: one article under eight of them, all linked from one page. The server holds
#: these eight answers back until all have been asked for, so that they are judged together.
CROWDED = "news/night-ferry"

SESSION_IDS = ("a91f", "b07c", "c3d2", "d558", "e6e0", "f1b9", "0c4a", "17aa")

#: Print views: a bare template, and the paper's name is missing from the title.
PRINTED = (
    "kitchen/plum-cake",
    "museum/lamp-room",
    "museum/whale-skeleton",
    "news/swing-bridge",
    "zh/tofu",
)

#: The mirror host shows the same text in another template, among other menus.
MIRRORED = (
    "museum/whale-skeleton",
    "news/swing-bridge",
    "science/barnacle-glue",
    "sport/regatta",
    "weather/january-storm",
    "zh/abacus",
    "zh/dragon-race",
)

#: The mirror host reprints these with a line of its own before and after them.
REPRINTED = ("kitchen/mussel-chowder", "news/library-cat", "zh/braised-mullet")

#: A corrected version at an address of its own: one passage of a long text has changed. It says
#: something else, so both are to be stored.
CORRECTED = {
    "news/flood-wall": ("wide enough for two prams to pass", "wide enough for two carts to pass"),
    "zh/night-school": ("在船厂修雷达", "在船厂修罗盘"),
}

#: Pages in GBK on the newspaper's host, and the content type that goes with them. The first is
#: a copy of a UTF-8 page; the second exists in GBK only and is no duplicate of anything. Only its
#: meta element tells the charset.
GBK_ONLY = "zh/photo-studio"
GBK_COPY = "zh/tofu"
GBK = {GBK_COPY: "text/html; charset=gbk", GBK_ONLY: "text/html"}

#: And a GBK copy on the mirror host.
GBK_MIRROR_COPY = "zh/typhoon"

#: A redirect, to a page that is also linked directly. Only a page can be a duplicate.
REDIRECTS = {"1": "news:/news/night-ferry", "2": "mirror:/story/museum-whale-skeleton"}

#: Two addresses of one very short page: with so few words only equal texts are duplicates.
SAME_NOTICE = ("museum-hours", "museum/opening")

#: Pages that list different posts in one frame: only look alike, all to be stored.
TAG_PAGES = ("animals", "crafts", "gardens", "harbour", "sea", "历史", "手艺", "美食")
ARCHIVE_PAGES = {
    "2024-01": "January 2024",
    "2024-02": "February 2024",
    "2024-03": "March 2024",
    "2024-04": "April 2024",
    "2024-05": "May 2024",
}

#: An article and its translation: two contents.
TRANSLATIONS = {"science/sea-fog": "zh/sea-fog", "zh/sea-fog": "science/sea-fog"}

#: A shop's guide in two versions, which advise something else: both are to be stored.
REVISED_GUIDE = (
    "cast-iron",
    (
        "Scour off the rust with coarse salt and half a potato, rinse, dry it on the flame and "
        "begin again with the oil.",
        "Scour off the rust with steel wool and cold tea, rinse, dry it in the oven and begin "
        "again with two coats of oil.",
    ),
)

#: What the newspaper's own pages link to below their text.
COLUMN_LINKS = {
    "ferry-times": [
        (f"Link number {number}", f"news:/{CROWDED}?sid={sid}")
        for number, sid in enumerate(SESSION_IDS, start=1)
    ],
    # Session ids again, redirects, and a parameter that only counts clicks.
    "newsletter": [
        ("Plums, again", "news:/kitchen/plum-cake?sid=a91f"),
        ("The same plums, for those who lost the link", "news:/kitchen/plum-cake?sid=77d0"),
        ("修东西", "news:/zh/night-school?sid=c3d2"),
        ("修东西（再发一次）", "news:/zh/night-school?sid=9e01"),
        ("A boat in the night", "news:/go/1"),
        ("A whale on the floor", "news:/go/2"),
        ("From our shop: the clock with one hand", "news:/shop/tide-clock?ref=newsletter"),
    ],
    "corrections": [
        ("The flood wall", "news:/news/flood-wall-corrected"),
        ("社区夜校", "news:/zh/night-school-corrected"),
    ],
    # Nothing here can be judged: not text/HTML, not a 2xx answer, or nothing to read.
    "odds-and-ends": [
        ("Tide tables", "news:/files/tide-tables"),
        ("Fog, photographed", "news:/files/fog"),
        ("The harbour gauge", "news:/files/gauge"),
        ("Untitled", "news:/drafts/1"),
        ("Untitled, too", "news:/drafts/2"),
        ("The story that was taken down", "news:/news/taken-down"),
    ],
}

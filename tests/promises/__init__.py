"""A crawl with the add-on stores every content that a crawl without it stores.

Each situation is a small site and an ordinary spider. It is crawled twice, with the add-on and
without, by real Scrapy against a real server; the labels of what is stored must be the same.

A situation is a function in one of the modules ``situations_*.py``. Its name is the promise::

    @situation(contents=12, finds=12)
    def articles_are_kept_beside_their_print_views(site: Site) -> type[PromiseSpider]:
        for number in range(12):
            text = words(seed=number)
            site.put(f"/print/{number}", bare(text, f"Story {number}"), content=f"story {number}")
            site.put(f"/story/{number}", full(text, f"Story {number}"), content=f"story {number}")
        site.index()
        return PromiseSpider

* ``content`` is what the page holds. Copies share the label. It travels in a response header, where
  the add-on does not look, and the spider writes it into the item's field ``content``.
* ``contents`` is how many labels the crawl without the add-on must store, so that a situation
  cannot pass because nothing was crawled.
* ``finds`` is how many items the add-on must drop (or tag, or report) at least, so that a situation
  with copies cannot pass because nothing was judged.
* The function is called once for each of the two crawls. It returns a spider, or a list of
  :class:`~tests.promises.harness.Run` where a site is crawled several times.

All are crawled one after the other by one process, :mod:`tests.promises.runner`;
``python -m tests.promises.runner NAME`` crawls one and prints what came of it.
"""

"""Times lookups in a growing index of fingerprints: this package's and others'.

Each index is in a process of its own, which holds nothing else, so that its memory can be
measured. All are filled with the same random fingerprints up to one size, queried in turn, and
filled further. The queries are fingerprints unlike all stored ones, and stored ones with up to
three changed bits. Each process first allocates and frees eight megabytes, as a crawl does with
its pages; otherwise glibc requests large blocks from the system at every lookup.

A package that takes no fingerprints gets the cheapest input that yields one: gaoya a text of one
word, pyLSHash the bits as a vector. The bits of a word cannot be changed, so the queries of gaoya
are stored words. All inputs are prepared before the time is measured.
"""

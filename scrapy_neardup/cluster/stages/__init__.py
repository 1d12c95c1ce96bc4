"""The stages of a run, in the order in which a page goes through them: signing, proposing,
confirming, site_pages, judging, stars, components. A task of each is a function on Arrow and numpy.
"""

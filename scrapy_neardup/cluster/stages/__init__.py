"""The stages of a run, in the order in which a page goes through them: signing, proposing,
confirming, site_pages, judging, components. A task of each is a plain function on Arrow and numpy.
"""

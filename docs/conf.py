"""How Sphinx builds this folder: ``make docs``."""

from __future__ import annotations

from scrapy_neardup import __version__

project = "scrapy_neardup"
author = "The scrapy_neardup developers"
project_copyright = author
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

# Links between pages name headings as GitHub does, so that they work there as well.
myst_heading_anchors = 4
myst_enable_extensions = ["strikethrough"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
# Other projects' names, which would need a network to be found.
nitpick_ignore_regex = [
    ("py:.*", r"(scrapy|twisted|numpy|np|npt|lxml|concurrent|collections|typing)\..*"),
    (
        "py:.*",
        r"BaseDupeFilter|DropItem|HtmlElement|IgnoreRequest|NotConfigured|PathLike|Protocol|Spider|Crawler",
    ),
]
# Told in the text of what has them, or only of use inside the package.
nitpick_ignore = [
    ("py:attr", "scrapy_neardup.signatures.signature.PageSignature.key"),
    ("py:class", "Extraction"),
    ("py:class", "SiteBoilerplate"),
    ("py:class", "scrapy_neardup.hashing.simhash_index.Candidates"),
    ("py:class", "Manber"),
    ("py:class", "scrapy_neardup.methods.containment.K"),
    ("py:data", "MAX_SITES"),
    ("py:func", "resemblances"),
]

html_theme = "furo"
html_title = "scrapy_neardup"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    # the colours of the report
    "light_css_variables": {"color-brand-primary": "#1d2126", "color-brand-content": "#2b5c7d"},
    "dark_css_variables": {"color-brand-primary": "#eceff2", "color-brand-content": "#8fbcd9"},
    "source_repository": "https://github.com/scrapy-neardup/scrapy-neardup/",
    "source_branch": "main",
    "source_directory": "docs/",
}

"""HTML templates of the pages; :mod:`website.pages` fills in every ``$name``."""

from __future__ import annotations

from string import Template

#: The newspaper's own frame. It changes at every fetch: a counter under the headline, readers
#: online, the order of the most read pieces, the saying of the hour, the server's clock.
COURIER = Template("""\
<!DOCTYPE html>
<html lang="$lang">
<head>
<meta charset="$charset">
<title>$title – The Otter Bay Courier</title>
</head>
<body>
<header>
<a href="/">The Otter Bay Courier</a>
<p>Printed at the harbour since 1871</p>
</header>
<nav><ul>$menu</ul></nav>
<main>
<article>
<h1>$heading</h1>
<p class="byline">$byline</p>
$body
<p class="counter">$views</p>
$tools
</article>
</main>
<aside>
<h2>Most read</h2>
<ul>$most_read</ul>
<p>$online readers online now</p>
<blockquote>$saying</blockquote>
</aside>
<footer>
<p>The Otter Bay Courier, 4 Quay Street, Otter Bay. Letters are printed when they are legible.</p>
<p>Page made at $clock</p>
</footer>
</body>
</html>
""")

#: The same text on paper: no menu, no counter, and a title without the name of the paper.
PRINT = Template("""\
<!DOCTYPE html>
<html lang="$lang">
<head><meta charset="utf-8"><title>$title</title></head>
<body onload="window.print()">
<h1>$heading</h1>
$body
<hr>
<p><small>Printed $clock</small></p>
</body>
</html>
""")

#: The mirror host wraps the same stories in markup of twenty years ago, with menus of its own.
DIGEST = Template("""\
<html>
<head>
<meta http-equiv="Content-Type" content="text/html; charset=$charset">
<title>$title | Coastline Digest</title>
</head>
<body bgcolor="#f4f0e6">
<div id="top"><a href="/">Coastline Digest</a> &middot; stories from up and down the shore</div>
<div id="menu"><ul>$menu</ul></div>
<div id="content" class="post">
<h2>$heading</h2>
<div class="meta">$byline</div>
$body
</div>
<div id="related"><b>More from the shore</b><ul>$related</ul></div>
<div id="bottom">Visitors since Monday: $views. Best seen in a window, with a view of the sea.</div>
</body>
</html>
""")

#: The shop on the quay: the same host as the newspaper, another frame.
SHOP = Template("""\
<!DOCTYPE html>
<html lang="$lang">
<head>
<meta charset="utf-8">
<title>$title – The Harbour Shop</title>
</head>
<body>
<header><a href="/shop/">The Harbour Shop</a></header>
<nav><ul>$menu</ul></nav>
<main>
<h1>$heading</h1>
$body
</main>
<footer>
<p>The Harbour Shop, Quay Street. $online people are looking at the shelves.</p>
</footer>
</body>
</html>
""")

#: The town's notice board: a few words to a page.
NOTICE = Template("""\
<!DOCTYPE html>
<html lang="$lang">
<head><meta charset="utf-8"><title>$title</title></head>
<body>
<nav><a href="/">Back to the paper</a></nav>
<main>$body</main>
</body>
</html>
""")

#: What the mirror puts round a piece that it reprints: a head and a foot of its own.
REPRINT = {
    "en": Template("""\
<p><i>This article first appeared in The Otter Bay Courier; we are grateful for leave to
share it.</i></p>
$body
<p>Do you know a story like this one? Write to us in Holm, and mind the dog.</p>
"""),
    "zh": Template("""\
<p><i>本文原载《水獭湾邮报》，承蒙允许转载。</i></p>
$body
<p>您也有这样的故事吗？欢迎来信。</p>
"""),
}

#: Answers that are not text/HTML and that nobody should judge.
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a4944415478da63b8010000da00d9bdc57e150000000049454e44ae426082"
)

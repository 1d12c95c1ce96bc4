"""Knows how titles and headings say that a page is missing, in twelve languages.

A verb that articles use as well ("no existe", "was removed") counts only beside a word for what is
missing, such as "page".
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u2032\u00b4`", "'"))
#: What is missing.
_THING = (
    r"(?:page|url|address|link|file|document|resource|product|item|article|post|listing|content|"
    r"story|video|offer|ad|site)"
)
_ENGLISH = (
    r"\b404\b|not found|not exist|n't exist|no longer|\bgone\b|missing|unavailable|"
    r"\bno such \w+|\bnothing (?:to see )?here\b(?! yet)|"
    # "Couldn't find the page? Contact us" is said on any page.
    rf"(?:can'?t|cannot|can not|n't|not|unable to|failed to)(?: \w+ to)? (?:be able to )?"
    rf"(?:find|locate)\b[^.?!]{{0,40}}\b(?:{_THING}s?|looking for|requested)\b(?![^.!]*\?)|"
    r"(?:can'?t|cannot|n't|not|no longer) be (?:found|located|displayed|reached)|"
    rf"\b{_THING}\b[^.?!]{{0,40}} (?:is|are)(?: not|n't) (?:\w+ )?(?:available|here|valid)\b|"
    rf"\b{_THING}\b[^.?!]{{0,40}} (?:was|has been|have been) (?:removed|deleted|moved|taken down)\b"
)
_GERMAN = (
    r"nicht (?:mehr )?(?:gefunden|vorhanden|verfügbar|auffindbar|finden\b)|unauffindbar|"
    r"(?:seite|artikel|produkt|adresse|beitrag|dokument|inhalt|angebot|anzeige|datei)\b"
    r"[^.?!]{0,30} (?:existiert|gibt es|gibt's) (?:\w+ )?nicht\b|"
    r"(?:seite|artikel|produkt|adresse|beitrag|dokument|inhalt|angebot|anzeige|datei)\b"
    r"[^.?!]{0,30} (?:gelöscht|entfernt)\b"
)
_ROMANCE = (
    # French
    r"introuvable|inexistante?\b|\bpas (?:été |pu être |pu )?trouv|impossible de trouver|"
    r"(?:page|adresse|article|produit|annonce|contenu|document|fichier|url|lien)\b[^.?!]{0,40}"
    r" (?:n'existe (?:pas|plus)|n'est (?:pas|plus) (?:disponible|accessible|ici)|"
    r"a été (?:supprimé|retiré))|"
    # Spanish and Portuguese
    r"(?:no|não) (?:se |foi |fue |ha |sido |pudo |puede |pôde |pode |ser )*"
    r"(?:encontrad|encontró|encuentra|localizad)|"
    r"(?:no|não) (?:hemos |pudimos |podemos |conseguimos )?encontra(?:do|r|mos)\b[^.?!]{0,20} "
    r"(?:página|artículo|artigo|produc?to|conte[nú]+do)|"
    r"(?:página|art[íi]culo|artigo|produc?to|conte[nú]+i?do|direcci[óo]n|endereço|enlace|anuncio|"
    r"anúncio|documento|url)\b[^.?!]{0,40} (?:no|não)(?: \w+)? (?:existe\b|dispon[ií])|"
    r"(?:página|produc?to|conte[nú]+i?do)\b[^.?!]{0,40} (?:no|não) existe\b|"
    # Italian
    r"\bnon (?:è |è stat[ao] |abbiamo |riusciamo a )?(?:trovat|trovare )|"
    r"(?:pagina|articolo|prodotto|indirizzo|contenuto|annuncio|documento|url)\b[^.?!]{0,40}"
    r" non (?:è )?(?:più )?(?:esiste|disponibile|presente)\b"
)
_OTHERS = (
    # Dutch
    r"niet (?:meer )?(?:worden )?(?:gevonden|vinden\b)|"
    r"(?:pagina|artikel|product|adres|bericht|advertentie|document|bestand)\b[^.?!]{0,40}"
    r" (?:bestaat (?:\w+ )?niet|niet (?:meer )?(?:bestaat|beschikbaar))\b|"
    # Polish
    r"nie (?:został[ao]? |można |możemy |udało się )?(?:znale[zź]|odnale[zź])|"
    r"(?:stron[aąy]|artykuł|produkt|ogłoszenie|adres|plik|dokument)\b[^.?!]{0,40}"
    r" (?:nie istnieje|usunięt|niedostępn)|"
    # Russian
    r"не (?:была? |было |удалось |могу |можем |может быть )?(?:найд|найти|нашл)|"
    r"(?:страниц|стать|товар|объявлени|документ|адрес|файл|материал)\w*[^.?!]{0,40}"
    r" (?:не существует|удал[её]н|недоступн|нет\b(?! \w))"
)
_EAST_ASIAN = (
    # Chinese
    r"找不到|不存在|未找到|无法找到|無法找到|走丢了|[没沒]有?找到[^。！？]{0,12}[页頁]|"
    r"(?:页面?|頁面?|内容|內容|文章|商品|链接|連結)[^。！？]{0,10}"
    r"(?:已被?删除|已被?刪除|已下架|已?失效|丢失|不見了|不见了)|"
    # Japanese
    r"見つかりません|見つからない|見つけられません|存在しません|存在しない|"
    r"(?:ページ|記事|商品|ファイル)[^。？]{0,12}(?:ありません|ございません|削除され|見当たりません)|"
    # Korean
    r"찾을 수 없|찾지 못|존재하지 않|없는 페이지|"
    r"(?:페이지|게시물|상품)[^.?!]{0,8} (?:없습니다|삭제)"
)
_MISSING = re.compile("|".join((_ENGLISH, _GERMAN, _ROMANCE, _OTHERS, _EAST_ASIAN)))
#: What is missing is no page, but what would be in a list.
_RESULTS = re.compile(
    r"\b(?:results?|matches|ergebnis\w*|treffer|résultats?|resultados?|risultat\w|resultaten|"
    r"wynik\w*|результат\w*)\b|结果|結果|결과"
)
#: Begins a text about such notices.
_ABOUT = re.compile(
    r"\W*(?:how|why|when|fix\w*|solv\w*|wie|warum|comment|pourquoi|cómo|por qué|como|por que|come|"
    r"perché|hoe|waarom|jak|dlaczego|как|почему)\b"
)


def says_missing(text: str) -> bool:
    """Return whether a title, a heading or a line of text says that a page is missing."""
    text = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).casefold()
    is_other = _ABOUT.match(text) or _RESULTS.search(text)
    return not is_other and _MISSING.search(text) is not None

"""Knows the words of counters, by which copies of a page differ: views, comments, stock.

Of a language that is not listed here, a counter is not told from other numbers and words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from .normalization import normalize

#: The first character of scripts without spaces, and of Korean.
FIRST_WIDE = "\u2e80"
#: Words for what is counted, for who counts, for what a server says of itself or of its visitor,
#: and for times; with an asterisk, beginnings of words.
_COUNTED = (
    "view views pageviews hit hits read reads reading visit visits visitor visitors click clicks "
    "comment comments reply replies response responses answers message messages like likes liked "
    "dislikes thanks thanked kudos reaction* helpful vote votes upvotes downloads downloaded share "
    "shares shared reposts boosts mentions follow* subscriber* members users guests readers online "
    "browsing posts topics threads rating ratings rated score scores review reviews reputation rep "
    "karma points level activity stars forks favorit* favourit* bookmark* saves plays streams "
    "listens installs accesses citations altmetric stock inventory qty quantity availab* left "
    "remain* sold "
    "orders bid bids bidders backers pledged funded applicants applications attending interested "
    "watching watchers rank* popularity results page count counter total cart wishlist "
    "listed added created submitted uploaded reported advertised refreshed checked retrieved seen "
    "viewed updat* modif* last today yesterday now uptime since age days temperature weather "
    "humidity wind rendered generated server node host pod queries memory cache request trace "
    "session token nonce build revision hello welcome served cited thanked listeners uploads "
    "contributors issues words scrobbles loves recommends trend random usd eur "
    "aufruf* zugriff* besuche* klicks leser gesehen angesehen gelesen kommentar* antworten "
    "nachrichten danke gefällt stimmen empfehlungen abonn* mitglieder gäste benutzer treffer "
    "anzahl favoriten beiträge bewertung* bewerber bestand lager* verfügbar* verkauft gebot* "
    "beobacht* rang punkte seite stand uhrzeit heute gestern restzeit noch ladezeit lesezeit "
    "geändert erstellt eingestellt veröffentlicht "
    "ligne vu vue vues consulté lectures lu visite* connectés favoris commentaire* réponses "
    "aime téléchargement* partage* abonnés membres avis évaluation* note dispo* vendus aujourd "
    "publié jour "
    "vistas visto visualiz* leído* lecturas visita* mensajes comentario* respuestas gusta votos "
    "descargas compartid* seguidores miembros opiniones puntuación calificación valoracion* "
    "favoritos existencias disponib* vendid* página publicado actualizado hoy ayer "
    "lettur* letto risposte commenti voti piace scaricat* condivision* recension* giacenza "
    "aggiornato acessos respostas curtid* comentários membros avaliação atualizado vendas estoque "
    "hoje weergaven bekeken gelezen bezoek* reacties antwoorden berichten stemmen leden voorraad "
    "beoordeling* verkocht bijgewerkt vandaag "
    "wyświetl* odsłon* odwiedzin odpowied* komentarz* głosów pobra* ocen* opinie polub* czyta* "
    "dostępność dodano zobrazen* přečten* komentář* příspěvků stažen* hodnocen* skladem "
    "просмотр* показов прочит* посещ* посетител* комментари* сообщени* ответов ответы голос* "
    "лайков нравится спасибо репутация избранно* скач* загрузок подписчик* участник* гостей онлайн "
    "рейтинг* оцен* отзыв* отклик* наличи* складе количество остал* остаток продан* "
    "купили сегодня вчера обновлено добавлено опубликовано размещено создано перегляд* відгук* "
    "коментар* завантажень сьогодні "
    "görüntü* okun* yorum* ziyaret* mesaj* cevap* beğen* indir* üye* takipçi* oy puan stok bugün "
    "güncelleme "
    "مشاهد* زيار* قراء* تعليق* رد ردود إعجاب* تحميل* متابع* تقييم* مشارك* أعضاء متواجد* مخزون "
    "متوفر* تحديث اليوم"
).split()
#: The same of scripts without spaces, anywhere in a label.
_COUNTED_ANYWHERE = (
    "浏览 瀏覽 阅读 閱讀 查看 参与 推荐 热评 获赞 收听 在看 "
    "点击 點擊 访问 訪問 播放 围观 评论 評論 留言 回复 回覆 回帖 帖子 "
    "点赞 點讚 下载 下載 收藏 分享 转发 关注 關注 粉丝 积分 威望 金币 金钱 库存 庫存 剩余 已售 "
    "月销 销量 銷量 成交 人气 人氣 热度 排名 评分 評分 得分 得票 在线 在線 次数 次數 字数 页码 "
    "頁碼 今日 今天 昨日 昨天 本周 天气 温度 更新 发布 "
    "閲覧 再生 コメント いいね 返信 レス 投稿 お気に入り ブックマーク フォロワー ダウンロード "
    "在庫 残り 入札 評価 口コミ ランキング 順位 ポイント 件数 会員数 アクセス ビュー 本日 天気 "
    "조회 읽음 방문자 댓글 답글 추천 공감 공유 좋아요 팔로워 다운로드 재고 판매량 평점 별점 리뷰 "
    "후기 순위 접속자 오늘 어제"
).split()
#: An amount of what a page is about, as in "Quantity: 30 ml".
_AMOUNT = re.compile(
    r"\d[\d.,]*\s?(?:ml|cl|dl|l|litres?|liters?|mg|g|gr|kg|oz|fl\.? ?oz|lbs?|mm|cm|m|ft|inch|"
    r"inches|毫升|升|克|千克|公斤|мл|л|г|кг)\.?",
    re.IGNORECASE,
)
#: Words of counters that stand beside numbers of what a page is about as often: "Level 3".
_AMBIGUOUS = frozenset(
    "memory wind level activity age days temperature humidity node host pod server session token "
    "build revision page count total rank points stars members users guests listed last left score "
    "scores scored reads reading read issues topics plays contributors since rated usd eur queries "
    "seite stand lager bestand rang punkte mitglieder gäste benutzer leser anzahl "
    "ligne vu vue vues lu lectures jour note página membros membres miembros stock "
    "uhrzeit restzeit rank* участник* гостей рейтинг* количество oy puan".split()
)
#: Labels of counters behind which "yes" says what a page is about as well.
_NAMED = frozenset(("level", "activity", "vote"))
#: Behind these, codes with a number are none of a counter, as the rating of a film: "PG-13".
_RATED = frozenset(("rating", "rated"))
_CODE = re.compile(r"[A-Z]{1,5}(?:[ -]?\d{1,2}\+?)?")
#: Words of labels behind which words without a number say something of the visit as well, as in
#: "Weather: sunny", "Last visitor: Anna" and "Cache: hit".
_OF_VISITS = (
    "online welcome hello last today yesterday now weather cache request trace token nonce random "
    "trend uptime since cart wishlist rendered generated refreshed checked retrieved seen viewed "
    "updat* modif* uhrzeit stand heute gestern restzeit noch geändert aujourd jour hoy ayer "
    "actualizado aggiornato atualizado hoje vandaag bijgewerkt онлайн сегодня вчера обновлено "
    "сьогодні bugün güncelleme اليوم تحديث متواجد* "
    "在线 在線 今日 今天 昨日 昨天 天气 更新 本日 天気 오늘 어제 접속자"
).split()
#: What is said of a stock, of a button, or in the place of a number, without a word of a counter.
_NO_NUMBER = re.compile(
    r"(?:x|no|none|nothing|never|nobody|not yet|n/?a|unknown|unrated|loading\W*|be the first.*|"
    r"yes|un\w*available|not available|sold out|out of .*|discontinued|back.?order\w*|"
    r"limited.*|pre.?order\w*|low|plenty|few|many|some|in store|ships .*|ready .*|coming soon|"
    r"immediate\w*|ja|nein|keine?|nie|noch nicht|unbekannt|(?:nicht |sofort |wieder )*lieferbar|"
    r"ausverkauft|"
    r"vorrätig|nicht vorrätig|vergriffen|wenige?|vorbestell\w*|"
    r"oui|non|aucune?|jamais|inconnue?|épuisée?|rupture.*|sur commande|indisponible|"
    r"sí|si|ningun[oa]|nunca|agotad[oa]|no disponible|bajo pedido|nessun[oa]?|mai|esaurit[oa]|"
    r"não|nenhuma?|esgotad[oa]|indisponível|sob encomenda|nee|geen|uitverkocht|op voorraad|"
    r"tak|nie|brak|да|нет|никогда|неизвестно|под заказ|ожидается|много|мало|"
    r"evet|hayır|yok|var|tükendi|نعم|لا|نفد.*|غير متوفر|"
    r"无|無|暂无.*|沒有|没有|是|否|[有无無缺現现]货|售罄|なし|あり|無し|有り|[○◎△×✕-].*|品切れ.*|取り寄せ|"
    r"없음|있음|품절)",
    re.IGNORECASE,
)
#: What may stand beside the word of a counter in its label.
_BESIDE = frozenset(
    "of by the in no number numbers times time total all this week month year by id your ip "
    "der die das des von anzahl de la le les du des nombre número numero total liczba число кол во "
    "عدد آخر".split()
)


#: Words of counters in labels of what a page is about: the follow-up of a trial, the code of a
#: response, the capital of a company, the quantity in a pack, the votes for a motion.
_NO_COUNTER = (
    r"(?:(?<=order )|(?<=pack )|(?<=case )|(?<=box ))quantity|"
    r"(?:follow-? ?ups?|responses? (?:codes?|times?|formats?|types?)|"
    r"requests? (?:timeouts?|limits?|sizes?)|shares? capital|sessions? lengths?|"
    r"(?:quantity|qty) (?:per|in|of)|votes? (?:for|against))\b"
)


def _any_of(words: Iterable[str], anywhere: Iterable[str] = _COUNTED_ANYWHERE) -> re.Pattern[str]:
    whole = "|".join(word.replace("*", "[^ ]*") for word in words if word < FIRST_WIDE)
    beginning = rf"(?<!\w)(?!{_NO_COUNTER})(?:و?ال)?"
    return re.compile(rf"{beginning}(?:{whole})(?!\w)|{'|'.join(anywhere)}", re.IGNORECASE)


_COUNTER = _any_of(_COUNTED)
_ONLY_COUNTER = _any_of(word for word in _COUNTED if word not in _AMBIGUOUS)
_VISIT = _any_of(_OF_VISITS, (word for word in _OF_VISITS if word >= FIRST_WIDE))

_BARE_NUMBER = re.compile(r"[\d\s.,'+%/()-]+[kKmM]?")
WORD = re.compile(r"[^\W\d_]+")
#: Numbers, words, and what ends a part of a text; how many other words stand between a number and
#: the word of its counter.
_NUMBER_OR_WORD = re.compile(r"\d[\d.,'+]*[kKmM]?(?![^\W\d_])|\d+|[^\W\d_]+|[,;|·•/]")
_STOPS, _MAX_OTHERS = frozenset(",;|·•/"), 1


class Words:
    """Words that tokens of normalised texts are compared with.

    :param words: as those above; also in scripts without spaces, whose words may stand anywhere in
        a token, and of which those in katakana are cut into pairs of characters.
    """

    def __init__(self, *words: str) -> None:
        whole = [normalize(word.rstrip("*")) for word in words if word < FIRST_WIDE]
        wide = [normalize(word) for word in words if word >= FIRST_WIDE]
        is_beginning = [word.endswith("*") for word in words if word < FIRST_WIDE]
        self._whole = frozenset(whole) | {word[:2] for word in wide if _KATAKANA.fullmatch(word)}
        pairs = zip(whole, is_beginning, strict=True)
        self._beginnings = tuple(word for word, is_open in pairs if is_open)
        self._anywhere = re.compile("|".join(map(re.escape, wide)) or "(?!)")
        #: Of words that are cut into characters, as most of Japanese are.
        self.pieces = frozenset(chain.from_iterable(word for word in wide if len(word) > 1))

    def __contains__(self, token: str) -> bool:
        if token >= FIRST_WIDE:
            return token in self._whole or self._anywhere.search(token) is not None
        token = _ARTICLE.sub("", token)
        return token in self._whole or token.startswith(self._beginnings)


_KATAKANA = re.compile("[\u30a1-\u30fc]{3,}")
_ARTICLE = re.compile("^و?ال")
OF_COUNTERS = Words(*_COUNTED, *_COUNTED_ANYWHERE)
_ONLY_OF_COUNTERS = Words(
    *(word for word in _COUNTED if word not in _AMBIGUOUS), *_COUNTED_ANYWHERE
)
#: Words of counters that say something else as often where they stand in a sentence.
ORDINARY = frozenset(
    "memory wind level note age ages days page pages stars members left lager lagerplatz lagerung "
    "seite página revision session build listens usd eur read reading".split()
)
#: Words in sentences that count something, or say that it was just now.
NEAR_NUMBERS = Words(
    *"times viewing watching looking impressions enrolled learners usage accessed "
    "customers bought useful thoughts claps hearts fans "
    "others tweets spots basket showing processed took ad ads banner advertisement ticket captcha "
    "proxy incident available discussion trackbacks pingbacks opened played used "
    "mal vor sehen ansichten grad teilnehmer merkzettel gekauft kunden rezensionen "
    "kundenmeinungen ergebnisse anzeigennummer zeigt "
    "fois regardent participants affichages consultée reste restent acheté invités "
    "utilisateurs résultats clients utile "
    "veces hace viendo inscritos compraron quedan usuarios invitados reseñas clientes resultados "
    "volte ultimi iscritti vendo restano ospiti utenti clienti acquistato risultati vezes "
    "há restam compraram "
    "keer bekijken kocht klanten ogląda stanie razy zostało gości kupiło użytkowników "
    "раз смотрят купили осталось заказали обращались пользователей "
    "kez kişi kullanıcı değerlendirme منذ مرة شخص "
    "次 回 前 已读 访客 人数 气温 看过 看過 购买 購買 付款 仅剩 售出 赞 顶 有用 回答 弹幕 正在看 "
    "拍手 スキ クチコミ 購入 閲覧 회 명이 구매 남음".split()
)
#: Words of short times, behind the numbers of how long something took or is ago, or what is left.
OF_TIMES = Words(
    *"ago left geleden temu назад önce fa sec secs second seconds ms s msec sekunden sek seconde "
    "secondes jours heures segundos "
    "secondi секунд секунды сек ms saniye ثانية ثواني دقيقة دقائق "
    "秒 分钟 小时 天前 日前 周前 月前 年前 時間前 分前 시간 초".split()
)


def names_a_counter(text: str) -> bool:
    """Return whether any word of a short text is one of a counter."""
    return _COUNTER.search(text) is not None


def names_only_a_counter(text: str) -> bool:
    """Return whether a short text has a word that only counters have: "views", but not "level"."""
    return _ONLY_COUNTER.search(text) is not None


def without_counts(text: str) -> str:
    """Return a short text without the numbers that stand beside a word that only counters have.

    One other word may stand between: "51 page views" is a counter, "4 bedrooms, sea views" none.
    """
    words = _NUMBER_OR_WORD.findall(text)
    is_number = [word[0].isdigit() for word in words]
    is_dropped = [False] * len(words)
    for place, word in enumerate(words):
        if _ONLY_COUNTER.search(word):
            for step in (-1, 1):
                _drop_numbers(words, is_number, is_dropped, place, step)
    return " ".join(word for word, dropped in zip(words, is_dropped, strict=True) if not dropped)


def _drop_numbers(
    words: Sequence[str], is_number: Sequence[bool], is_dropped: list[bool], place: int, step: int
) -> None:
    """Mark the numbers on one side of a counter's word, up to a comma or a second other word."""
    others = 0
    place += step
    while 0 <= place < len(words) and others <= _MAX_OTHERS and words[place] not in _STOPS:
        is_dropped[place] |= is_number[place]
        if not is_number[place] and words[place].casefold() not in _BESIDE:
            others += 1
        place += step


def is_label_of_counter(label: str, value: str) -> bool:
    """Return whether a label names a counter, as do "Page views" and "Last 24 hours".

    Beside a number alone one such word is enough. Else all words must be of counters, for
    "Available sizes" and "Last name" say something of the page.
    """
    if not names_a_counter(label) or _AMOUNT.fullmatch(value):
        return False
    if label.casefold() in _NAMED and not any(map(str.isdigit, value)):
        return False
    if _is_word(value) and not _VISIT.search(label):
        return False
    if label.casefold() in _RATED and _CODE.fullmatch(value):
        return False
    rest = _COUNTER.sub(" ", label).casefold()
    is_number = _BARE_NUMBER.fullmatch(value) is not None
    return is_number or all(word in _BESIDE for word in WORD.findall(rest))


def _is_word(value: str) -> bool:
    """Return whether a value is neither a number nor stands for one, as "none" does."""
    if any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    # Bars stand for the empty cells of a row.
    return _NO_NUMBER.fullmatch(value.strip("| ")) is None and not names_a_counter(value)


def is_of_counter(token: str) -> bool:
    """Return whether a token of a normalised text is a word of a counter."""
    return token in OF_COUNTERS


def is_only_of_counter(token: str) -> bool:
    """Return whether a token is a word that only counters have: "views", but not "guests"."""
    return token in _ONLY_OF_COUNTERS

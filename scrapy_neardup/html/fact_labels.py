"""Knows the labels of what copies of a page differ in: bylines, dates, and counters.

A number behind another label, such as "Size: 42", says what the page is about. Of a language that
is not listed here, a counter is taken for that, and two copies that were fetched when it showed
other numbers are both kept.
"""

from __future__ import annotations

import re

_BYLINE = re.compile(
    r"(?:last |written )?"
    r"(?:by|author|autor|auteur|автор|date|datum|published|posted|updated|source|quelle)|"
    r".*(?:作者|著者|记者|記者|编辑|編集|来源|來源|时间|時間|日期|公開日|更新日)",
    re.IGNORECASE,
)
#: Words for what is counted, for who counts, and for times; with an asterisk, beginnings of words.
_COUNTED = (
    "view views pageviews hit hits read reads visit visits visitor visitors click clicks comment "
    "comments reply replies answers like likes vote votes upvotes downloads downloaded share "
    "shares shared follow* subscriber* members users guests online posts topics threads rating "
    "ratings rated score scores review reviews stock availab* left remain* sold orders bid bids "
    "watching watchers rank* points karma result results page count counter total time updat* "
    "modif* last today now uptime since viewed "
    "aufruf* zugriff* besuche* klicks kommentar* antworten gefällt stimmen abonn* mitglieder "
    "beiträge bewertung* bestand lager* verfügbar* verkauft gebot* beobacht* rang punkte seite "
    "stand uhrzeit heute gelesen "
    "vue vues lectures lu visite* commentaire* réponses aime téléchargement* partage* abonnés "
    "membres avis note dispo* vendus aujourd "
    "vistas visto visualiz* leído* lecturas visita* comentario* respuestas gusta votos descargas "
    "compartid* seguidores miembros opiniones valoracion* existencias disponib* vendid* hoy "
    "lettur* risposte commenti scaricat* condivision* recension* acessos respostas curtid* "
    "vendas estoque hoje "
    "weergaven gelezen bezoek* reacties antwoorden leden voorraad beoordeling* vandaag "
    "wyświetl* odsłon* odpowied* komentarz* pobra* ocen* polub* czyta* zobrazen* přečten* "
    "stažen* hodnocen* "
    "просмотр* прочит* посещ* комментари* ответов ответы голос* скач* загрузок подписчик* "
    "участник* рейтинг* оцен* отзыв* наличи* остал* продан* сегодня перегляд* відгук* "
    "görüntü* okun* yorum* cevap* beğen* indir* üye* puan stok bugün "
    "مشاهد* زيار* قراء* تعليق* رد ردود إعجاب* تحميل* متابع* تقييم* متوفر* اليوم"
).split()
#: The same of scripts without spaces, anywhere in a label.
_COUNTED_ANYWHERE = (
    "浏览 瀏覽 阅读 閱讀 点击 點擊 访问 訪問 评论 評論 回复 回覆 点赞 點讚 下载 下載 收藏 分享 "
    "关注 關注 库存 庫存 销量 銷量 人气 人氣 热度 排名 评分 評分 得票 在线 在線 次数 次數 "
    "页码 頁碼 今日 今天 閲覧 コメント いいね 返信 ダウンロード 在庫 評価 ランキング アクセス "
    "ビュー 조회 댓글 추천 좋아요 다운로드 재고 평점 오늘"
).split()
_COUNTER = re.compile(
    rf"(?<!\w)(?:{'|'.join(word.replace('*', '[^ ]*') for word in _COUNTED)})(?!\w)|"
    rf"{'|'.join(_COUNTED_ANYWHERE)}",
    re.IGNORECASE,
)
#: Beginnings of labels of dates on which something takes place; others may be those of a visit.
_EVENT = re.compile(
    r"(?:when|start|begin|event|end(?:s|ing)?\b|doors|departure|arrival|check.?in|check.?out|due|"
    r"deadline|closing date|opening|appointment|expir|born|died|birth|"
    r"wann|beginn|termin|anfang|ende\b|einlass|abfahrt|ankunft|anreise|abreise|frist|geboren|"
    r"quand|début|fin\b|départ|arrivée|cuándo|inicio|comienz|salida|llegada|quando|inizio|fine\b|"
    r"partenza|arrivo|início|partida|chegada|wanneer|aanvang|kiedy|początek|odjazd|"
    r"когда|начало|конец|отправление|прибытие|开始|開始|结束|結束|开幕|举办|日時|開催|出発|到着|截止)",
    re.IGNORECASE,
)
#: A date or a time, or a year alone.
_DATE = re.compile(
    r"(?<![\d.])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d\d)(?![\d.]*\d)|"
    r"\d:\d\d|(?<![\w/-])(?:19|20)\d\d(?![\w/-])|\d ?[年月日时時分년월일시분]"
)


def is_byline(label: str) -> bool:
    """Is it a label of who wrote a page, and when?"""
    return _BYLINE.fullmatch(label) is not None


def tells_pages_apart(label: str, number: str) -> bool:
    """Is a number behind a label what a page is about, and no counter, or date of a visit?

    :param number: the text with the number.
    """
    if not any(map(str.isalpha, label)) or is_byline(label) or _COUNTER.search(label):
        return False
    return _DATE.search(number) is None or _EVENT.match(label) is not None

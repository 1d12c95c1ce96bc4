"""Knows the words of counters, by which copies of a page differ: views, comments, stock.

Of a language that is not listed here, a counter is not told from other numbers and words.
"""

from __future__ import annotations

import re

#: Words for what is counted, for who counts, and for times; with an asterisk, beginnings of words.
_COUNTED = (
    "view views pageviews hit hits read reads visit visits visitor visitors click clicks comment "
    "comments reply replies answers like likes vote votes upvotes downloads downloaded share "
    "shares shared follow* subscriber* members users guests online posts topics threads rating "
    "ratings rated score scores review reviews stock availab* left remain* sold orders bid bids "
    "watching watchers rank* points karma result results page count counter total updat* "
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


_BEGINNINGS = tuple(word[:-1] for word in _COUNTED if word.endswith("*"))
_WHOLE = frozenset([*_COUNTED, *_COUNTED_ANYWHERE])


def names_a_counter(text: str) -> bool:
    """Return whether any word of a short text is one of a counter."""
    return _COUNTER.search(text) is not None


def is_of_counter(token: str) -> bool:
    """Return whether a token is a word of a counter; faster than a search in a text."""
    return token in _WHOLE or token.startswith(_BEGINNINGS)

"""Knows the words of counters, by which copies of a page differ: views, comments, stock.

Of a language that is not listed here, a counter is not told from other numbers and words.
"""

from __future__ import annotations

import re

#: Words for what is counted, for who counts, for what a server says of itself or of its visitor,
#: and for times; with an asterisk, beginnings of words.
_COUNTED = (
    "view views pageviews hit hits read reads reading visit visits visitor visitors click clicks "
    "comment comments reply replies response responses answers message messages like likes liked "
    "dislikes thanks thanked kudos reaction* helpful vote votes upvotes downloads downloaded share "
    "shares shared reposts boosts mentions follow* subscriber* members users guests readers online "
    "posts topics threads rating ratings rated score scores review reviews reputation rep karma "
    "points level activity stars forks favorit* favourit* bookmark* saves plays streams listens "
    "installs accesses citations altmetric stock inventory qty quantity availab* left remain* sold "
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
    "рейтинг* оцен* отзыв* отклик* наличи* складе количество остал* продан* купили сегодня вчера "
    "обновлено добавлено опубликовано размещено создано перегляд* відгук* коментар* завантажень "
    "сьогодні "
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
#: What may stand beside the word of a counter in its label.
_BESIDE = frozenset(
    "of by the in no number numbers times time total all this week month year by id your ip "
    "der die das des von anzahl de la le les du des nombre número numero total liczba число кол во "
    "عدد آخر".split()
)
_COUNTER = re.compile(
    rf"(?<!\w)(?:و?ال)?(?:{'|'.join(word.replace('*', '[^ ]*') for word in _COUNTED)})(?!\w)|"
    rf"{'|'.join(_COUNTED_ANYWHERE)}",
    re.IGNORECASE,
)


_BARE_NUMBER = re.compile(r"[\d\s.,'+%/()-]+[kKmM]?")
_WORD = re.compile(r"[^\W\d_]+")
_BEGINNINGS = tuple(word[:-1] for word in _COUNTED if word.endswith("*"))
_WHOLE = frozenset([*_COUNTED, *_COUNTED_ANYWHERE])


def names_a_counter(text: str) -> bool:
    """Return whether any word of a short text is one of a counter."""
    return _COUNTER.search(text) is not None


def is_label_of_counter(label: str, value: str) -> bool:
    """Return whether a label names a counter, as do "Page views" and "Last 24 hours".

    Beside a number alone one such word is enough. Else all words must be of counters, for
    "Available sizes" and "Last name" say something of the page.
    """
    if not names_a_counter(label):
        return False
    rest = _COUNTER.sub(" ", label).casefold()
    is_number = _BARE_NUMBER.fullmatch(value) is not None
    return is_number or all(word in _BESIDE for word in _WORD.findall(rest))


def is_of_counter(token: str) -> bool:
    """Return whether a token is a word of a counter; faster than a search in a text."""
    return token in _WHOLE or token.startswith(_BEGINNINGS)

"""Titles and headings that say that a page is missing, and others."""

from __future__ import annotations

import pytest

from scrapy_neardup.crawl.soft_404.notices import says_missing


@pytest.mark.parametrize(
    "text",
    [
        "Page not found",
        "Error 404",
        "We couldn't find that page",
        "We can’t find the page you’re looking for",
        "We can't seem to find the page you are looking for.",
        "We were unable to locate this article",
        "We could not find what you were looking for",
        "The page cannot be found",
        "Sorry, this page isn't available.",
        "This content is not currently available",
        "This listing has been removed",
        "Oops! Nothing here",
        "No such page",
        "Diese Seite existiert nicht",
        "Diese Seite gibt es leider nicht",
        "Die Seite konnte nicht gefunden werden",
        "Der Beitrag wurde gelöscht",
        "Cette page n’existe pas",
        "La page que vous cherchez n'existe plus",
        "Nous n'avons pas trouvé cette page",
        "Página no encontrada",
        "La página que buscas no existe",
        "No se encontró la página",
        "Lo sentimos, no hemos encontrado esta página",
        "A página não existe",
        "Não encontramos esta página",
        "A pa\u0301gina na\u0303o foi encontrada",
        "La pagina non esiste",
        "Pagina non trovata",
        "Deze pagina bestaat niet",
        "De pagina kon niet worden gevonden",
        "Nie znaleziono strony",
        "Strona nie istnieje",
        "Страница не найдена",
        "Такой страницы не существует",
        "页面找不到了",
        "没有找到您要访问的网页",
        "抱歉，该页面已被删除",
        "お探しのページは見つかりませんでした",
        "このページは存在しません",
        "페이지를 찾을 수 없습니다",
        "존재하지 않는 페이지입니다",
    ],
)
def test_usual_notices_are_known(text):
    assert says_missing(text)


@pytest.mark.parametrize(
    "text",
    [
        "How to fix a page not found error",
        "Wie man die Meldung „Seite nicht gefunden“ behebt",
        "Couldn't find what you wanted? Contact us",
        "Couldn't find the page? Write to us",
        "No results found",
        "Nothing here yet",
        "No se ha encontrado ningún resultado",
        "Nie znaleziono wyników",
        "没有找到相关结果",
        "Nothing Phone (2)",
        "Nothing compares to you",
        "The statue was removed from the square",
        "Finding the right address",
        "No existe riesgo para la salud",
        "Il mostro non esiste, dice lo studio",
        "Das gibt es nicht oft: ein Zug nach Rom",
        "Un vélo qui n'existe pas encore",
        "Não existe almoço grátis",
        "Sklep, jakiego nie ma",
        "Бога не существует, говорит он",
        "Нет времени",
        "本页介绍博物馆的历史",
        "ページをめくる喜び",
        "다음 페이지",
    ],
)
def test_titles_of_contents_are_no_notices(text):
    assert not says_missing(text)

"""Short texts, pages that contain them, and functions that change them slightly or strongly."""

from __future__ import annotations

import random

FERRY = (
    "The ferry to Holm island leaves twice a day from the old pier, at eight in the morning and "
    "at five in the afternoon, except on Sundays, when the crew has a rest and the boat is "
    "scrubbed from stem to stern. A single ticket costs three crowns, a bicycle rides for one "
    "crown more, and dogs travel free as long as they keep off the benches. In winter the "
    "crossing takes an hour because of the drift ice; in summer half of that is enough, and the "
    "captain likes to tell passengers about the lighthouse that his grandfather helped to build."
)
MUSEUM = (
    "After two years of repairs the museum of weaving opens its doors again on Saturday. "
    "Visitors will find nine looms in working order, the oldest of them from a monastery that "
    "burned down in the great fire, and a new room in which children may try their hand at a "
    "small frame. The curator has collected letters of women who worked the night shift, and "
    "their voices, read by actors, accompany guests from floor to floor without any headphones."
)
TEA = (
    "茶叶博物馆位于老城区的南门附近，三层小楼里陈列着各地收集来的茶壶、茶碗和制茶工具。"
    "馆长从小跟着祖父在山上采茶，后来走遍了十几个省，把快要失传的制茶手艺一一记录下来。"
    "参观的人可以在院子里的老槐树下坐一坐，喝一杯当年的新茶，听工作人员讲讲茶马古道的故事。"
    "博物馆每周一闭馆，其余时间上午九点开门，下午五点关门，学生凭证件可以免费入场。"
)
BRIDGE = (
    "新修的石桥昨天正式通车，住在河东的居民再也不用绕道上游的渡口去上班。"
    "桥全长二百六十米，两侧留出了宽阔的人行道，栏杆上的石狮子由本地工匠一锤一凿刻成。"
    "设计师说，桥拱的弧度参考了下游那座明代古桥，夜里灯光亮起，两座桥的倒影仿佛连成了一轮满月。"
    "通车典礼上，八十岁的老船工把用了半辈子的船桨捐给了镇上的陈列室。"
)

#: Words that say nothing by themselves: none of them is a value.
COMMON = "a and are as at by for from in is it of on or that the this to was with".split()


def word(number: int) -> str:
    """A word of letters for each number; a token with digits would weigh next to nothing."""
    syllables = "ba de fi go hu ka le mi no pu".split()
    return "".join(syllables[int(digit)] for digit in str(number))


def article(words: int = 400, seed: int = 0, vocabulary: int = 2000) -> list[str]:
    """Words drawn with a fixed seed: two seeds share words but hardly a shingle."""
    rng = random.Random(seed)
    return [word(rng.randrange(vocabulary)) for _ in range(words)]


def replaced(words: list[str], share: float, seed: int = 1, *, values: bool = False) -> list[str]:
    """The same words with a share of them, spread over the text, replaced.

    :param values: by rare words, as in another page of a form, and not by common ones.
    """
    rng = random.Random(seed)
    places = set(rng.sample(range(len(words)), round(share * len(words))))
    return [
        (word(rng.randrange(10**6)) if values else rng.choice(COMMON)) if i in places else old
        for i, old in enumerate(words)
    ]


def page(text: str, title: str = "", frame: str = "", links: str = "") -> str:
    """A page with this main text and title, in a frame; ``links`` are paths to go on to."""
    onward = "".join(f'<a class="next" href="{path}">on</a>' for path in links.split())
    return (
        f"<html><head><title>{title}</title></head><body><nav><a href='/'>{frame} Home</a></nav>"
        f"<article><h1>{title}</h1><p>{text}</p></article>"
        f"<footer>{frame} {onward}</footer></body></html>"
    )

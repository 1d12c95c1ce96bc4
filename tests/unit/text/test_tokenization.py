from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup import InvalidOption
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import (
    ScriptTokenizer,
    Spans,
    han_pieces,
    jieba_words,
    rjieba_words,
    shingle_units,
    shipped_tokenizer,
)

TOKENIZE, _ = shipped_tokenizer("auto")
CHINESE = "他来到了网易杭研大厦，小明硕士毕业于中国科学院计算所，后在日本京都大学深造。"


def tokens(text: str) -> list[str]:
    return list(TOKENIZE(normalize(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ferry, twice a day!", ["the", "ferry", "twice", "a", "day"]),
        ("Straße ÜBER façade", ["straße", "über", "façade"]),
        ("don't re-use snake_case v2.0", ["don", "t", "re", "use", "snake", "case", "v2", "0"]),
        ("Это русский текст", ["это", "русский", "текст"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 문장", ["한국어", "문장"]),
        # The published example of jieba's README, in accurate mode.
        ("我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("使用Python编程", ["使用", "python", "编程"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("東京へ", ["东京", "へ"]),
        ("ภาษาไทย", [text[i : i + 2] for text in ["ภาษาไทย"] for i in range(6)]),
        ("", []),
        ("… — ?!", []),
    ],
)
def test_words_of_every_script(text, expected):
    assert tokens(text) == expected


@given(st.text())
def test_tokens_never_hold_white_space_or_nothing(text):
    assert all(token and not any(map(str.isspace, token)) for token in tokens(text))


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=30))
def test_chinese_is_cut_but_not_changed(text):
    assert "".join(tokens(text)) == normalize(text)


HAN = st.sampled_from("中国人民的我来到北京清华大学计算机生们")


# Unique: where a character is repeated, two cuts can be as likely, and rounding decides.
@given(st.lists(st.lists(HAN, min_size=1, unique=True).map("".join)))
def test_rjieba_and_jieba_give_the_same_words(runs):
    assert rjieba_words(" ".join(runs)) == jieba_words(" ".join(runs))


def han_text(length: int, seed: int = 0) -> str:
    return "".join(
        random.Random(seed).choices("中国人民的我来到北京清华大学计算机学生们", k=length)
    )


@given(st.integers(1, 5000), st.integers())
def test_pieces_of_a_run_are_the_run(length, seed):
    run = han_text(length, seed)
    pieces = list(han_pieces(run))
    assert "".join(pieces) == run
    assert all(0 < len(piece) <= 500 for piece in pieces)
    assert len(pieces) <= 1 or min(map(len, pieces[:-1])) >= 250


_HAN, _PAIRED = r"\p{Han}", r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
#: Of every way in which words are cut, in both widths, and what stands between them.
ODD = st.sampled_from("aé_ 中が𠮷ไё2😀𝟙\ud800\n\u3000")
TEXTS = st.lists(st.text(st.characters() | ODD, max_size=40), max_size=4)


def words_by_letter(text: str) -> list[str]:
    """Pairs where a script has no spaces: by patterns that know all planes, run by run."""
    found = []
    for run in regex.finditer(rf"[\w--[_{_HAN}{_PAIRED}]]+|{_HAN}+|{_PAIRED}+", text, regex.V1):
        whole = run[0]
        if regex.match(rf"{_HAN}|{_PAIRED}", whole):
            found += [whole[i : i + 2] for i in range(len(whole) - 1)] or [whole]
        else:
            found.append(whole)
    return found


@given(TEXTS)
def test_several_texts_have_the_words_that_each_has(texts):
    pairs, words = (shipped_tokenizer(name)[0] for name in ("pairs", "auto"))
    assert isinstance(pairs, ScriptTokenizer)
    assert isinstance(words, ScriptTokenizer)
    assert [each.tokens() for each in pairs.spans(texts)] == list(map(words_by_letter, texts))
    assert [each.tokens() for each in words.spans(texts)] == list(map(words, texts))


@given(TEXTS.filter(any))
@example(["กกก", "中中中"])
def test_tokens_stand_where_their_places_say(texts):
    for name in ("pairs", "auto"):
        tokenizer = shipped_tokenizer(name)[0]
        assert isinstance(tokenizer, ScriptTokenizer)
        for spans in tokenizer.spans(texts):
            # The pairs of a run overlap.
            assert (spans.starts[1:] > spans.starts[:-1]).all()
            assert list(map(chr, spans.codes.tolist())) == list(spans.text)
            assert Spans.of(spans.tokens()).tokens() == list(spans) == spans.tokens()


@pytest.mark.slow
@pytest.mark.parametrize("plane", range(4))
def test_every_character_ends_the_runs_that_it_ends_in_the_patterns(plane):
    pairs, _ = shipped_tokenizer("pairs")
    text = " ".join(f"a{chr(code)}a" for code in range(plane << 16, (plane + 1) << 16))
    assert pairs(text) == words_by_letter(text)


def test_pieces_of_long_runs_are_cut_apart():
    runs = [han_text(500), "a" * 600, han_text(1700), "。", han_text(501, seed=1), "が"]
    expected = [han_pieces(run) if len(run) > 1 else [run] for run in runs]
    expected[1] = ["a" * 600]
    found = shipped_tokenizer("pairs")[0]("".join(runs))
    assert found == [
        word for pieces in expected for piece in pieces for word in words_by_letter(piece)
    ]


def test_a_run_of_ordinary_length_is_one_piece():
    assert [*han_pieces("中" * 500)] == ["中" * 500]
    assert [len(piece) for piece in han_pieces("中" * 800)] == [250, 250, 300]


def test_behind_an_inserted_character_the_pieces_are_the_same_again():
    rng = random.Random(7)
    run = "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(50_000))
    before, after = set(han_pieces(run)), set(han_pieces(run[:99] + "中" + run[99:]))
    assert len(before - after) < len(before) / 5


@pytest.mark.parametrize("name", ["jieba", "rjieba", "pairs"])
def test_a_run_without_end_is_cut_into_words_all_the_same(name):
    run = han_text(20_000)
    found = list(shipped_tokenizer(name)[0](f"{run} museum"))
    assert found[-1] == "museum"
    if name == "pairs":
        assert len(found) < 20_000
    else:
        assert "".join(found[:-1]) == run
        assert found == list(shipped_tokenizer("jieba")[0](f"{run} museum"))


def test_a_token_is_never_cut():
    assert tokens("a" * 10**6 + "b") == ["a" * 10**6 + "b"]


def test_shingles_take_han_characters_one_by_one():
    tokens = ["茶叶", "museum", "的", "ab", "カタ", "清华大学"]
    assert shingle_units(tokens) == [*"茶叶", "museum", "的", "ab", "カタ", *"清华大学"]


def test_both_jiebas_have_one_identity_and_the_pairs_another():
    jieba, rjieba, pairs = (shipped_tokenizer(name) for name in ("jieba", "rjieba", "pairs"))
    assert jieba[1] == rjieba[1] != pairs[1]
    assert list(jieba[0](CHINESE)) == list(rjieba[0](CHINESE))
    assert list(pairs[0]("中国人")) == ["中国", "国人"]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidOption, match="'jeiba', but it must be 'auto', 'jieba'"):
        shipped_tokenizer("jeiba")


def test_a_planted_cache_file_is_not_read(tmp_path):
    (tmp_path / "jieba.cache").write_bytes(b"planted")
    program = (
        "import marshal, os, tempfile\n"
        "from scrapy_neardup.text.tokenization import jieba_words\n"
        "marshal.load = lambda file: 1 / 0\n"
        "print(jieba_words('我来到北京清华大学'), os.listdir(tempfile.gettempdir()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        env={"TMPDIR": str(tmp_path), "TEMP": str(tmp_path), "PATH": ""},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == "['我', '来到', '北京', '清华大学'] ['jieba.cache']"
    assert done.stderr == ""


def run_with_jieba_at(folder: Path, program: str, *options: str) -> str:
    """Return the output of a program that finds another jieba first."""
    done = subprocess.run(
        [
            sys.executable,
            *options,
            "-c",
            f"import sys; sys.path.insert(0, {str(folder)!r})\n{program}",
        ],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.fixture
def copied_jieba(tmp_path):
    """A copy of jieba without compiled files."""
    spec = importlib.util.find_spec("jieba")
    assert spec
    assert spec.origin
    unneeded = shutil.ignore_patterns("__pycache__", "lac_small", "posseg", "analyse")
    shutil.copytree(Path(spec.origin).parent, tmp_path / "jieba", ignore=unneeded)
    return tmp_path / "jieba"


@pytest.mark.parametrize("table", ["dict.txt", "finalseg/prob_emit.py"])
def test_another_dictionary_is_another_identity(copied_jieba, table):
    program = (
        "from scrapy_neardup.text.tokenization import shipped_tokenizer\n"
        "print(shipped_tokenizer('jieba')[1])"
    )
    identity = shipped_tokenizer("jieba")[1]
    assert run_with_jieba_at(copied_jieba.parent, program) == identity
    with (copied_jieba / table).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert run_with_jieba_at(copied_jieba.parent, program) != identity


def test_nobody_is_told_of_faults_in_the_source_of_jieba(copied_jieba):
    program = (
        "from scrapy_neardup.text.tokenization import jieba_words, shipped_tokenizer\n"
        "import warnings; warnings.simplefilter('error')\n"
        "shipped_tokenizer('jieba')\n"
        "print(jieba_words('我来到北京清华大学'), sys.modules['jieba'].__file__)"
    )
    said = run_with_jieba_at(copied_jieba.parent, program, "-B", "-X", "utf8")
    assert said == f"['我', '来到', '北京', '清华大学'] {copied_jieba / '__init__.py'}"

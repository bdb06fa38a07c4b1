#!/usr/bin/env python3
"""Checks the pages for readers: README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md and docs/.

usage: check_prose.py [PAGE ...]

Fails on a sentence of more than 40 words, a page of more than 250 lines (the language reference excepted), a README of more
than 130 lines, or an average above 25 words a sentence. Prints each page's lines, sentences and average.

A sentence ends with ".", "!", "?" or ":" before a space, or with its paragraph, list item or table cell. A piece of code is one
word. Code blocks, headings and HTML comments are not counted.
"""

import pathlib
import re
import sys

LONGEST_SENTENCE = 40
LONGEST_AVERAGE = 25
LONGEST_PAGE = 250
LINES = {"README.md": 130, "docs/language.md": None}  # pages with a limit of their own; None: no limit
ROOT = pathlib.Path(__file__).resolve().parent.parent

# What is taken out of a page, or stands for one word.
BLOCK = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"(`+).+?\1")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.|>)\s+")
# Not an end: an abbreviation, or a number's point, which no space follows.
END = re.compile(r"(?<=[.!?:])(?<!\be\.g\.)(?<!\bi\.e\.)[)\"*_]*\s+")


def blocks_of(text):
    """(line, words) of each paragraph, list item and table cell."""
    blank = lambda match: re.sub(r"[^\n]", "", match[0])
    text = COMMENT.sub(blank, BLOCK.sub(lambda match: "\n" + blank(match)[1:] if "\n" in match[0] else "", text))
    found, begun = [], False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip() if not ITEM.match(line) else line
        if not line.strip() or line.startswith("#") or re.fullmatch(r"[|:\- ]+", line):
            begun = False
        elif line.startswith("|"):
            found += [(number, cell.strip()) for cell in CODE.sub("code", line).split("|")[1:-1] if cell.strip()]
            begun = False
        elif ITEM.match(line) or not begun:
            found.append((number, ITEM.sub("", line)))
            begun = True
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found


def sentences_of(text):
    """(line where its paragraph begins, words) of each sentence."""
    found = []
    for line, block in blocks_of(text):
        plain = LINK.sub(r"\1", CODE.sub("code", block))
        for sentence in END.split(plain):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if words:
                found.append((line, words))
    return found


def problems_of(name, text):
    """What is wrong with a page, one line each."""
    lines = len(text.splitlines())
    limit = LINES.get(name, LONGEST_PAGE)
    if limit is not None and lines > limit:
        yield f"{name}: expected {limit} lines at most, found {lines}"
    sentences = sentences_of(text)
    for line, words in sentences:
        if len(words) > LONGEST_SENTENCE:
            yield f"{name}:{line}: expected {LONGEST_SENTENCE} words in a sentence at most, found {len(words)}: {' '.join(words[:8])} ..."
    if average(sentences) > LONGEST_AVERAGE:
        yield f"{name}: expected {LONGEST_AVERAGE} words a sentence on average at most, found {average(sentences):.1f}"


def average(sentences):
    return sum(len(words) for _, words in sentences) / max(len(sentences), 1)


def pages():
    """The names of all pages, relative to the root."""
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
    return [page.relative_to(ROOT).as_posix() for page in [*named, *sorted((ROOT / "docs").glob("**/*.md"))] if page.exists()]


def main(names):
    problems, everything = [], []
    for name in names or pages():
        text = (ROOT / name).read_text(encoding="utf-8")
        sentences = sentences_of(text)
        everything += sentences
        print(f"{name}: {len(text.splitlines())} lines, {len(sentences)} sentences, {average(sentences):.1f} words a sentence")
        problems += problems_of(name, text)
    longest = max((len(words) for _, words in everything), default=0)
    print(f"all: {len(everything)} sentences, {average(everything):.1f} words a sentence, {longest} in the longest")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

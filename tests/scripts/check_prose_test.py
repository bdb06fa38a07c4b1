"""Tests what the check of pages counts as a sentence, and that it fails where it should."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

import check_prose


def words_of(text):
    return [len(words) for _, words in check_prose.sentences_of(text)]


class Sentences(unittest.TestCase):
    def test_end_with_a_mark_a_paragraph_an_item_or_a_cell(self):
        self.assertEqual(words_of("One two. Three!\nFour five six\n\nSeven\n"), [2, 1, 3, 1])
        self.assertEqual(words_of("- one two\n- three\n  four\n"), [2, 2])
        self.assertEqual(words_of("1. one two\n2. three\n"), [2, 1])
        self.assertEqual(words_of("| one two | three |\n|---|---|\n| `a|b` four | |\n"), [2, 1, 2])

    def test_go_on_behind_a_number_s_point_and_an_abbreviation(self):
        self.assertEqual(words_of("It takes 0.5 us, e.g. here."), [6])

    def test_count_code_as_a_word_and_links_by_their_text(self):
        self.assertEqual(words_of("Call `pad(x, low, high)` as [the page](a/b.md#c) says."), [6])

    def test_are_not_in_code_blocks_headings_and_comments(self):
        self.assertEqual(words_of("# A heading\n\n```c\nint x; // one two\n```\n<!-- one\ntwo -->\n"), [])
        self.assertEqual(words_of("1. one:\n\n   ```\n   code. code. code.\n   ```\n\n   two three\n"), [1, 2])

    def test_have_the_line_where_their_paragraph_begins(self):
        text = "# One\n\n```\na\nb\n```\n\nTwo\nthree. Four.\n"
        self.assertEqual([line for line, _ in check_prose.sentences_of(text)], [8, 8])


class Problems(unittest.TestCase):
    def problems(self, name, text):
        return list(check_prose.problems_of(name, text))

    def test_a_sentence_has_40_words_at_most(self):
        self.assertEqual(self.problems("docs/a.md", "Short.\n\n" * 9 + "word " * 40 + ".\n"), [])
        self.assertEqual(self.problems("docs/a.md", "Short.\n\n" * 9 + "word " * 41 + ".\n"), [
            "docs/a.md:19: expected 40 words in a sentence at most, found 41: " + "word " * 8 + "..."])

    def test_a_page_has_250_lines_at_most_but_the_language(self):
        self.assertEqual(self.problems("docs/a.md", "\n" * 250), [])
        self.assertEqual(self.problems("docs/a.md", "\n" * 251), ["docs/a.md: expected 250 lines at most, found 251"])
        self.assertEqual(self.problems("docs/language.md", "\n" * 999), [])

    def test_the_readme_has_130_lines_at_most(self):
        self.assertEqual(self.problems("README.md", "\n" * 130), [])
        self.assertEqual(self.problems("README.md", "\n" * 131), ["README.md: expected 130 lines at most, found 131"])

    def test_sentences_have_25_words_on_average_at_most(self):
        self.assertEqual(self.problems("docs/a.md", "word " * 25 + ".\n"), [])
        self.assertEqual(self.problems("docs/a.md", "word " * 26 + ".\n"), [
            "docs/a.md: expected 25 words a sentence on average at most, found 26.0"])


class Command(unittest.TestCase):
    def test_says_the_average_and_fails_with_the_problems(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(check_prose, "ROOT", pathlib.Path(folder)):
            (pathlib.Path(folder) / "README.md").write_text("One two three. Four.\n", encoding="utf-8")
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.assertEqual(check_prose.main([]), 0)
                self.assertEqual(err.getvalue(), "")
                (pathlib.Path(folder) / "README.md").write_text("word " * 41, encoding="utf-8")
                self.assertEqual(check_prose.main(["README.md"]), 1)
            self.assertIn("README.md: 1 lines, 2 sentences, 2.0 words a sentence\n", out.getvalue())
            self.assertIn("expected 40 words in a sentence at most, found 41", err.getvalue())

    def test_reads_the_pages_that_there_are(self):
        self.assertLess({"README.md", "CONTRIBUTING.md", "docs/language.md"}, set(check_prose.pages()))


if __name__ == "__main__":
    unittest.main()

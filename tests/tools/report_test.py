"""padlock tune --report and padlock cache report: what stands on the page, and that a browser shows it."""

import html.parser
import json
import shutil
import struct
import subprocess
import unittest
import zlib

from padlock_testing import PAD_RELU, SOURCE, Case

EXAMPLE = f"--cache={SOURCE}/examples/tuning.jsonl"
PROGRAM = str(SOURCE / "examples" / "pad_relu.pad")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(html.parser.HTMLParser):
    """The tags of a page, which has to close them in order, and the text of each class."""

    EMPTY = {"meta"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.classes, self.links = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.classes += [name for key, value in attributes if key == "class" for name in value.split()]
        self.links += [value for key, value in attributes if key in ("src", "href", "xlink:href", "action")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()


class Report(Case):
    def page(self, *arguments):
        text = self.succeed("cache", "report", *arguments)
        return text, self.checked(text)

    def checked(self, text):
        """The page is one file, which asks for nothing, in light and in dark."""
        page = Page(text)
        self.assertEqual((page.links, page.tags.count("script")), ([], 0))
        self.assertNotRegex(text, r"https?:|url\(|@import")
        self.assertIn("default-src 'none'", text)
        self.assertIn("@media (prefers-color-scheme: dark)", text)
        return page

    def test_a_cache_alone(self):
        text, page = self.page(EXAMPLE)
        self.assertEqual((page.tags.count("section"), page.tags.count("circle")), (2, 3))
        self.assertEqual((page.classes.count("chosen"), page.classes.count("default"), page.classes.count("copy")), (2, 0, 0))
        self.assertIn("program a20731155073: S &gt;= 1024</h2>", text)
        self.assertIn("launches/s", text)
        self.assertIn('<td class="verdict">timeout</td><td>no result within 5 s</td>', text)

    def test_with_the_program_and_a_device(self):
        self.assertEqual(self.succeed("cache", "report", PROGRAM, EXAMPLE, "--device=host", "--output=p.html"), "")
        text = (self.folder / "p.html").read_text()
        page = self.checked(text)
        self.assertIn("<h2>pad_relu: all sizes</h2>", text)
        self.assertRegex(text, r"plain copy [\d.]+ [kMGT]?B/s")
        self.assertEqual((page.classes.count("copy"), page.classes.count("default")), (2, 0))  # another CPU's
        self.assertNotIn("launches/s", text)
        self.assertEqual(self.page(PROGRAM, EXAMPLE, "--program=ffff")[1].tags.count("section"), 0)

    def test_a_tuning(self):
        self.write("p.pad", PAD_RELU)
        done = self.padlock("tune", "p.pad", "--opt=B=64,S=1000,lo=3", "--budget=2s", "--cache=t.db", "--report=r.html", "--json", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (region,) = json.loads(done.stdout)["regions"]
        text = (self.folder / "r.html").read_text()
        page = self.checked(text)
        self.assertEqual(page.tags.count("circle"), region["measured"] - region["failed"])
        self.assertEqual((page.classes.count("chosen"), page.classes.count("default"), page.classes.count("copy")), (1, 1, 1))
        self.assertIn(f'chosen: <code>{region["config"]}</code>', text)

    def test_what_cannot_be_written_or_read(self):
        self.fail_with(3, "cannot write no/r.html", "cache", "report", EXAMPLE, "--output=no/r.html")
        self.fail_with(3, "none.pad", "cache", "report", "none.pad", EXAMPLE)
        self.fail_with(8, "none.db", "cache", "report", "--cache=none.db")
        self.fail_with(2, "gpu", "cache", "report", EXAMPLE, "--device=gpu")
        self.fail_with(2, "--report", "tune", PROGRAM, "--dry-run", "--report=r.html")
        self.assertFalse((self.folder / "r.html").exists())

    def browse(self, *arguments):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile"]
        page = (self.folder / "p.html").as_uri()
        done = subprocess.run([*command, *arguments, page], cwd=self.folder, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_a_browser_shows_its_parts_in_light_and_in_dark(self):
        self.succeed("cache", "report", PROGRAM, EXAMPLE, "--device=host", "--output=p.html")
        shown = self.browse("--dump-dom")
        for part, count in (("<section", 2), ("<svg", 2), ("<circle", 3), ('class="copy"', 2), ("<table", 1), ("<tr", 2)):
            self.assertEqual(shown.count(part), count, part)
        corners = []
        for scheme in (1, 0):  # light, dark
            self.browse(f"--blink-settings=preferredColorScheme={scheme}", "--screenshot=p.png", "--window-size=1200,900")
            corners.append(first_pixel((self.folder / "p.png").read_bytes()))
        self.assertEqual(corners, [(255, 255, 255), (0x0D, 0x11, 0x17)])


def first_pixel(png):
    """Red, green and blue of a PNG's first pixel, which no filter of its row changes."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    return tuple(zlib.decompressobj().decompress(data, 4)[1:4])


if __name__ == "__main__":
    unittest.main()

"""padlock cache: each action on good caches, on damaged ones and on what is none."""

import json
import os
import stat
import unittest
import unittest.mock

from padlock_testing import SOURCE, Case

EXAMPLE = str(SOURCE / "examples" / "tuning.jsonl")
LINES = (SOURCE / "examples" / "tuning.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)


class Cache(Case):
    def setUp(self):
        super().setUp()
        home = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self.folder / "home"))
        home.start()
        self.addCleanup(home.stop)

    def json(self, *arguments):
        return json.loads(self.succeed("cache", *arguments, "--json"))

    def fill(self, name):
        self.succeed("cache", "import", EXAMPLE, f"--cache={name}")
        return f"--cache={name}"

    def test_an_export_comes_back_as_it_was(self):
        cache = self.fill("a.db")
        self.assertEqual(self.succeed("cache", "export", cache), "".join(LINES))
        self.assertEqual(self.succeed("cache", "export", cache, "--output=out.jsonl"), "")
        self.assertEqual((self.folder / "out.jsonl").read_text(), "".join(LINES))
        self.assertEqual(stat.S_IMODE((self.folder / "a.db").stat().st_mode), 0o600)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.db", "out.jsonl"])

    def test_the_users_cache_needs_no_name_and_need_not_be_there(self):
        self.assertEqual(self.succeed("cache", "list"), "0 keys\n")
        self.assertFalse((self.folder / "home").exists())
        path = str(self.folder / "home" / "padlock" / "tuning.db")
        self.assertEqual(self.succeed("cache", "import", EXAMPLE), f"{path}: 7 of 7 records were new\n")
        self.assertIn("1 key\n", self.succeed("cache", "list"))
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)

    def test_list(self):
        listed = self.json("list", self.fill("a.db"))
        self.assertEqual((listed["schema"], listed["command"], listed["cache"]), (1, "cache list", "a.db"))
        (key,) = listed["keys"]
        self.assertEqual((key["target"], key["choices"], key["measurements"], key["failures"]), ("host", 2, 4, 1))
        self.assertEqual(len(self.json("list", "--cache=a.db", f"--program={key['program'][:4]}")["keys"]), 1)
        self.assertEqual(self.json("list", "--cache=a.db", "--program=ffff")["keys"], [])

    def test_show(self):
        (key,) = self.json("show", self.fill("a.db"))["keys"]
        records = [json.loads(line) for line in LINES]
        self.assertEqual(key["fields"], records[0]["fields"])
        self.assertEqual([c["region"] for c in key["choices"]], ["", "S >= 1024"])
        for shown, record in zip(key["measurements"], records[3:], strict=True):
            for name in ("region", "config", "sizes", "verdict", "message", "median_ps", "noise_ps", "samples_ps"):
                self.assertEqual(shown[name], record[name])
        text = self.succeed("cache", "show", "--cache=a.db")
        self.assertIn("  llvm (must): 22.1.8\n", text)
        self.assertIn("  threads (perf): 8\n", text)
        self.assertIn("  chosen for S >= 1024 (cold): vector_bytes=32,unroll=4,", text)
        order = [text.index(part) for part in ("41.200 us", "43.800 us", "timeout: no result within 5 s")]
        self.assertEqual(order, sorted(order))

    def test_verify(self):
        cache = self.fill("a.db")
        self.assertEqual(self.succeed("cache", "verify", cache), "a.db: 7 good records, 0 problems\n")
        content = bytearray((self.folder / "a.db").read_bytes())
        content[content.index(b"no result within 5 s")] ^= 1
        self.write("a.db", bytes(content))
        done = self.padlock("cache", "verify", cache)
        self.assertEqual((done.returncode, done.stderr), (8, ""))
        self.assertIn("a record: expected a line that fits its 'check'; it was changed\n", done.stdout)
        self.assertIn("a.db: 6 good records, 1 problems\n", done.stdout)
        listed = self.padlock("cache", "list", cache)
        self.assertEqual(listed.returncode, 0)
        self.assertIn("2 chosen, 3 measured, 0 failed", listed.stdout)
        self.assertEqual(listed.stderr.count("\n"), 1)
        self.assertIn("padlock: warning: a.db: 1 bad records are left out, the first: a record: ", listed.stderr)

    def test_import_takes_the_good_lines(self):
        self.write("bad.jsonl", "".join(LINES[:2]) + "{}\n" + LINES[3][:-10] + "\n" + "".join(LINES[4:]))
        done = self.padlock("cache", "import", "bad.jsonl", "--cache=a.db", "--json")
        self.assertEqual(done.returncode, 8)
        self.assertIn("warning: bad.jsonl: 2 bad records are left out, the first: line 3: expected an integer as 'schema'", done.stderr)
        counts = json.loads(done.stdout)
        self.assertEqual((counts["read"], counts["written"], counts["problems"]), (5, 5, 2))
        self.assertEqual(self.json("import", EXAMPLE, "--cache=a.db")["written"], 2)
        self.assertEqual(self.json("import", EXAMPLE, "--cache=a.db")["written"], 0)

    def test_merge_and_diff(self):
        self.write("left.jsonl", "".join(LINES[:5]))
        self.write("right.jsonl", LINES[0] + "".join(LINES[2:]))
        self.succeed("cache", "import", "left.jsonl", "--cache=left.db")
        difference = self.json("diff", "left.db", "right.jsonl")
        self.assertEqual(difference["changed"], [])
        self.assertEqual(difference["only_left"], ["choice for all sizes under key 8a1c8e1dbbd7"])
        self.assertEqual(len(difference["only_right"]), 2)
        text = self.succeed("cache", "diff", "left.db", "right.jsonl")
        self.assertIn("- choice for all sizes under key 8a1c8e1dbbd7\n+ measurement for S >= 1024 at B=64,S=4096,lo=3 of ", text)
        self.assertEqual(self.json("merge", "left.db", "right.jsonl", "--cache=both.db")["written"], 7)
        self.assertEqual(self.succeed("cache", "diff", "both.db", EXAMPLE), "no difference\n")

    def test_sync(self):
        (self.folder / "meet").mkdir()
        url = f"file://{self.folder}/meet"
        for name, lines in (("left", LINES[:5]), ("right", LINES[:1] + LINES[2:])):
            self.write(f"{name}.jsonl", "".join(lines))
            self.succeed("cache", "import", f"{name}.jsonl", f"--cache={name}.db")
        self.assertEqual(self.succeed("cache", "sync", url, "--cache=left.db"), "left.db: 0 records were new\n")
        synced = self.json("sync", url, "--cache=right.db")
        self.assertEqual(synced, {"schema": 1, "command": "cache sync", "cache": "right.db", "url": url, "written": 1, "problems": []})
        self.assertEqual(self.succeed("cache", "sync", url, "--cache=left.db"), "left.db: 2 records were new\n")
        self.assertEqual(self.succeed("cache", "sync", url, "--cache=new.db"), "new.db: 7 records were new\n")
        for cache in ("left.db", "right.db", "new.db"):
            self.assertEqual(self.succeed("cache", "export", f"--cache={cache}"), "".join(LINES))
        (left,) = (self.folder / "meet").iterdir()
        self.assertEqual(left.read_text(), "".join(LINES))

    def test_what_sync_cannot_reach_or_read_is_a_warning_and_the_command_fails(self):
        cache = self.fill("a.db")
        for url in (f"file://{self.folder}/gone", f"file://{self.folder}/a.db"):
            done = self.padlock("cache", "sync", url, cache)
            self.assertEqual((done.returncode, done.stdout), (8, f"a.db: 0 records were new\nnot all was exchanged with {url}\n"))
            self.assertRegex(done.stderr, r"\Apadlock: warning: cannot read .*: No(t a| such file or) directory\n\Z")
        done = self.padlock("cache", "sync", "redis://127.0.0.1:1", cache)
        warning = "padlock: warning: redis://127.0.0.1:1: Connection refused\n"
        text = "a.db: 0 records were new\nnot all was exchanged with redis://127.0.0.1:1\n"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (8, text, warning))
        done = self.padlock("cache", "sync", "redis://me:secret@127.0.0.1:1", cache, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["url"]), (8, "redis://...@127.0.0.1:1"))
        self.assertNotIn("secret", done.stdout + done.stderr)
        (self.folder / "meet").mkdir()
        bad = self.write("meet/" + 32 * "0" + ".v1.jsonl", LINES[0])
        done = self.padlock("cache", "sync", f"file://{self.folder}/meet", "--cache=new.db", "--json")
        problem = f"{self.folder}/{bad}: expected an export that its name is the hash of; nothing is taken"
        self.assertEqual((done.returncode, done.stderr), (8, f"padlock: warning: {problem}\n"))
        self.assertEqual((json.loads(done.stdout)["written"], json.loads(done.stdout)["problems"]), (0, [problem]))
        self.assertEqual(self.succeed("cache", "list", "--cache=new.db"), "0 keys\n")

    def test_prune(self):
        cache = self.fill("a.db")
        later = self.padlock("cache", "prune", cache, "--before=2027-01-01", "--dry-run")
        self.assertEqual(later.returncode, 0)
        self.assertIn("a.db: 7 of 7 records would go\n", later.stdout)
        key = json.loads(LINES[0])["key"][:12]
        self.assertIn(f"- choice for S >= 1024 under key {key}\n", later.stdout)
        pruned = self.json("prune", cache, "--before=2027-01-01")
        self.assertEqual((pruned["erased"], len(pruned["stale"])), (7, 7))
        self.assertEqual(pruned["stale"][1], f"choice for all sizes under key {key}")
        self.assertEqual(self.succeed("cache", "list", cache), "0 keys\n")

    def test_8_what_is_no_cache(self):
        self.write("text.db", "no database")
        (self.folder / "folder.db").mkdir()
        for action in ("list", "show", "verify", "export", "prune"):
            self.fail_with(8, "cannot read none.db: No such file or directory", "cache", action, "--cache=none.db")
            self.fail_with(8, "text.db: file is not a database", "cache", action, "--cache=text.db")
            self.fail_with(8, "cannot read folder.db: not a regular file", "cache", action, "--cache=folder.db")
        self.assertFalse((self.folder / "none.db").exists())
        self.fail_with(8, "text.db: file is not a database", "cache", "import", EXAMPLE, "--cache=text.db")
        self.fail_with(8, "text.db: file is not a database", "cache", "sync", f"file://{self.folder}", "--cache=text.db")
        self.fail_with(8, "text.db: file is not a database", "cache", "diff", EXAMPLE, "text.db")
        self.assertEqual((self.folder / "text.db").read_text(), "no database")

    def test_2_and_3(self):
        self.fail_with(2, "expected a subcommand; padlock cache -h lists them", "cache")
        self.fail_with(2, "unknown subcommand 'frobnicate'", "cache", "frobnicate")
        self.fail_with(2, "expected FILES after 'padlock cache import'; padlock cache import -h has two examples", "cache", "import")
        self.fail_with(2, "files", "cache", "diff", EXAMPLE)
        self.fail_with(2, "expected --before as YYYY-MM-DD, found 'yesterday'", "cache", "prune", "--before=yesterday")
        self.fail_with(2, "expected file:///FOLDER", "cache", "sync", "http://example.org", "--cache=a.db")
        self.fail_with(3, "cannot read none.jsonl", "cache", "import", "none.jsonl", "--cache=a.db")
        self.fail_with(3, "cannot write no/out.jsonl", "cache", "export", f"--cache={EXAMPLE}", "--output=no/out.jsonl")
        self.assertFalse((self.folder / "a.db").exists())


if __name__ == "__main__":
    unittest.main()

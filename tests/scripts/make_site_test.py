"""Tests the pages that are made from headers, and that the site has every page."""

import pathlib
import re
import tempfile
import unittest

import make_site

INCLUDE = make_site.ROOT / "include" / "padlock"


class CPage(unittest.TestCase):
    def test_a_declaration_stands_below_its_contract(self):
        page = make_site.c_page("""/* ---- Things ---- */
/* Makes one.
   Errors: INVALID_ARGUMENT. */
PADLOCK_API int padlock_make(int a,
                             int b);
#if defined(X)
typedef struct { int kind; /* which */ } padlock_thing;
#endif
""")
        self.assertIn("## Things\n\nMakes one.\nErrors: INVALID_ARGUMENT.\n\n```c\nint padlock_make(int a,", page)
        self.assertIn("```c\ntypedef struct { int kind; /* which */ } padlock_thing;\n```", page)

    def test_every_function_of_the_header_is_there(self):
        header = (INCLUDE / "padlock.h").read_text(encoding="utf-8")
        page = make_site.c_page(header)
        names = re.findall(r"^PADLOCK_API [^;(]*?(padlock_\w+)\(", header, re.M)
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if f"{name}(" not in page], [])


class CppPage(unittest.TestCase):
    def test_bodies_are_left_out_and_defaults_stay(self):
        code = """class A : public B {
 public:
  using Handle::Handle;
  explicit A(int a) noexcept : a_(a) {}
  int f(const Options& options = {}) const {
    if (a_) { return 1; }
    return 0;
  }
  struct Inner {
    int x = 0;
  };

 private:
  int a_;
};"""
        self.assertEqual(make_site.without_bodies(code), """class A : public B {
 public:
  explicit A(int a) noexcept;
  int f(const Options& options = {}) const;
  struct Inner {
    int x = 0;
  };
};""")

    def test_every_class_of_the_header_is_there(self):
        header = (INCLUDE / "padlock.hpp").read_text(encoding="utf-8")
        page = make_site.cpp_page(header)
        public = re.sub(r"^namespace detail \{.*?^\}  // namespace detail$", "", header, flags=re.M | re.S)
        names = re.findall(r"^(?:class|struct) (\w+)[^;]*\{$", public, re.M)
        self.assertGreater(len(names), 10)
        self.assertEqual([name for name in names if f"## {name}\n" not in page], [])


class Site(unittest.TestCase):
    def test_every_page_is_laid_out_and_in_the_navigation(self):
        with tempfile.TemporaryDirectory() as folder:
            make_site.main(f"{folder}/source")
            source = pathlib.Path(folder) / "source"
            navigation = (make_site.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
            for page in [*(make_site.ROOT / "docs").glob("*.md"), source / "api-c.md", source / "api-cpp.md", source / "api-python.md"]:
                name = page.name if page.parent == source else f"docs/{page.name}"
                self.assertTrue((source / name).exists(), name)
                self.assertRegex(navigation, rf"(?m): {re.escape(name)}$")


if __name__ == "__main__":
    unittest.main()

from __future__ import annotations

from programsmith.miners.spec_examples import read_examples
from tests.samples.mine import mine

FENCE = b"`" * 32


def fenced(*pairs: tuple[bytes, bytes], word: bytes = b"example") -> bytes:
    return b"prose\n\n" + b"\n".join(FENCE + b" " + word + b"\n" + a + b".\n" + b + FENCE + b"\n" for a, b in pairs)


def test_fenced_examples_are_read_with_their_tabs_and_inner_fences():
    text = fenced((b"\xe2\x86\x92x\n```\n", b"<p>\xe2\x86\x92</p>\n"), (b"", b""), word=b"example table")
    assert [(e.line, e.subject, e.output) for e in read_examples(text)] == [
        (3, b"\tx\n```\n", b"<p>\t</p>\n"),
        (10, b"", b""),
    ]
    assert read_examples(FENCE + b" example\nnever closed\n.\n") == []
    assert read_examples(b"```sh\na\n.\nb\n```\n") == []


def test_dotted_examples_are_read_and_an_odd_number_of_dots_is_no_such_file():
    text = b"Title\n.\na\n\nb\n.\n<p>a</p>\n.\n\nnext\n.\nc\n.\n.\n"
    assert [(e.line, e.subject, e.output) for e in read_examples(text)] == [
        (2, b"a\n\nb\n", b"<p>a</p>\n"),
        (11, b"c\n", b""),
    ]
    assert read_examples(text + b".\n") == []


def test_an_example_is_tried_plainly_and_refused_under_other_terms():
    examples = fenced(*((b"%d\n" % n, b"<%d>\n" % n) for n in range(5)))
    foreign = b"---\nlicense: '[CC-BY-SA 4.0](https://host.invalid)'\n---\n" + examples
    found, skipped = mine("spec_examples", {b"t/own.txt": examples, b"t/spec.txt": foreign, b"few.md": examples[:120]})
    assert [(m.template, m.case.argv, m.case.stdin) for m in found[:2]] == [
        ("stdin", (), b"0\n"),
        ("operand", (b"example.txt",), b""),
    ]
    assert {m.template_set for m in found} == {"spec_examples:t/own.txt"}
    assert (len(found), found[0].recorded.stdout, skipped) == (10, b"<0>\n", {"other_terms": 5})


def test_options_that_an_example_states_are_those_it_is_tried_with():
    pairs = [(b"%d\n" % n, b"<%d>\n.\n--tables --x=1\n" % n) for n in range(5)]
    found, _ = mine("spec_examples", {b"t.txt": fenced(*pairs)}, options=("-a",))
    assert [(m.template, m.case.argv, m.recorded.stdout) for m in found[:2]] == [
        ("stdin", (b"--tables", b"--x=1"), b"<0>\n"),
        ("operand", (b"--tables", b"--x=1", b"example.txt"), b"<0>\n"),
    ]
    assert len(found) == 10
    assert read_examples(fenced((b"a\n", b"b\n.\nprose\n")))[0].output == b"b\n.\nprose\n"

from __future__ import annotations

from tests.samples.mine import mine


def read(text, path=b"docs/a.md", **files):
    found, skipped = mine("doc_blocks", {path: text, **{k.encode(): v for k, v in files.items()}})
    return found, skipped


def test_prompts_with_output_and_without():
    found, skipped = read(b"```sh\n$ tool -a \\\n  b\nout\n\n$ tool -b\n$ other c | tool d\n```\n")
    assert [(m.case.argv, m.recorded.stdout, m.provenance.line) for m in found] == [
        ((b"-a", b"b"), b"out\n", 2),
        ((b"-b",), None, 6),
    ]
    assert skipped == {"not_simple": 1}


def test_output_that_is_cut_short_is_a_part_only():
    from programsmith.goldens.agreement import agreement
    from programsmith.payload.verifier.launcher import Result

    found, _ = read(b"```console\n$ tool\na\n...\nz\n```\n")
    assert agreement(found[0].recorded, Result(started=True, exit_code=0, stdout=b"a\nb\nc\nz\n")) == "agree"
    assert agreement(found[0].recorded, Result(started=True, exit_code=0, stdout=b"b\nz\n")) == "disagree"


def test_pairs_of_blocks_lose_the_escapes_of_their_page():
    page = (
        b'<pre class="pre-highlight-in-pair">\n<b>tool &quot;$x &lt; 1&quot; in.csv</b>\n</pre>\n'
        b'<pre class="pre-non-highlight-in-pair">\na &amp; b\n</pre>\n'
        b'<pre class="pre-highlight-in-pair">\n<b>cat in.csv</b>\n</pre>\n'
    )
    found, skipped = read(page.replace(b"$x", b"x"), **{"docs/in.csv": b"1"})
    assert [(m.case.argv, m.recorded.stdout) for m in found] == [((b"x < 1", b"in.csv"), b"a & b\n")]
    assert [f.path for f in found[0].case.files] == [b"in.csv"]
    assert skipped == {"other_program": 1}


def test_triplets_bring_their_own_sample_file():
    given = b"Given a sample.yml file of:\n```yaml\na: 1\n```\n"
    page = given + b"then\n```bash\ntool '.a' sample.yml\n```\nwill output\n```yaml\n1\n```\n"
    found, _ = read(page)
    assert [(m.case.argv, m.recorded.stdout) for m in found] == [((b".a", b"sample.yml"), b"1\n")]
    assert [(f.path, f.content) for f in found[0].case.files] == [(b"sample.yml", b"a: 1\n")]


def test_prose_other_programs_and_open_fences_yield_nothing():
    for page in (b"tool is a tool\n", b"```sh\n$ tool a\n", b"```python\ntool x\n```\n", b"~~~\nhello tool\n~~~\n"):
        assert read(page) == ([], {})
    assert read(b"Given a ../x.yml file:\n```\na\n```\ntool\n")[1] == {"outside_path": 1}


def test_a_hostile_page_is_read_in_one_pass_or_refused():
    assert read(b"tool" + b"`" * 200_000 + b"\n" + b"<b>" * 100_000)[0] == []
    assert read(b"tool" + b"x" * (3 << 20))[1] == {"page_too_large": 1}

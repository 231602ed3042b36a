"""Java as source: what is found, what is fetched, what is refused, how the tree starts, which lines are told."""

from __future__ import annotations

import os
import shutil

import pytest

from programsmith.goldens.strength.java_lines import telling
from programsmith.payload.verifier.environment import ORACLE, case_env
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.lock import EntryPoint
from programsmith.sandboxes import open_launcher
from programsmith.sources.origin import RefusedError
from programsmith.toolchains.build import build_source
from programsmith.toolchains.detect import detect
from programsmith.toolchains.fetch_maven import fetch_maven, managed, project
from programsmith.toolchains.java_manifest import Pom
from programsmith.toolchains.recipe import BuildRefusedError
from programsmith.toolchains.views import run_view

MAIN = b"package a.b;\npublic class Main {\n  public static void main(String[] args) { }\n}\n"
PATH = "src/main/java/a/b/Main.java"
LOUD = b"public class Loud {\n  public static void main(final String... args) { }\n}\n".replace(
    b"String...", b"String[]"
)


def pom(body: str = "", artifact: str = "greet") -> dict[str, bytes]:
    head = f"<groupId>g</groupId><artifactId>{artifact}</artifactId><version>1.2</version>"
    return {"pom.xml": f'<project xmlns="http://maven.apache.org/POM/4.0.0">{head}{body}</project>'.encode()}


def needs(*dependencies: str) -> str:
    return f"<dependencies>{''.join(f'<dependency>{d}</dependency>' for d in dependencies)}</dependencies>"


def coordinates(version: str = "<version>1</version>", more: str = "") -> str:
    return f"<groupId>x</groupId><artifactId>words</artifactId>{version}{more}"


@pytest.fixture
def asked(kit):
    """A request to build the tool greet."""
    return lambda target="a.b.Main", **more: kit.request(
        "java", entry=EntryPoint(tool="greet", kind="java-main", target=target, how="test"), **more
    )


@pytest.fixture
def jdk():
    if not shutil.which("javac"):
        pytest.skip("javac is absent; run: apt-get install -y openjdk-17-jdk-headless")


def declared(name):
    return f"<properties><main>{name}</main></properties><build><x><mainClass>${{main}}</mainClass></x></build>"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({**pom(declared("a.b.Main")), PATH: MAIN, "src/main/java/Loud.java": LOUD}, [("greet", "a.b.Main")]),
        ({**pom(), PATH: MAIN}, [("greet", "a.b.Main")]),
        ({**pom(), PATH: MAIN, "src/main/java/Loud.java": LOUD}, [("loud", "Loud"), ("main", "a.b.Main")]),
        ({**pom(declared("gone.Main")), PATH: MAIN}, [("greet", "a.b.Main")]),
        (
            {**pom(), PATH: MAIN, "src/main/java/a/c/Main.java": MAIN.replace(b"a.b", b"a.c")},
            [("b-main", "a.b.Main"), ("c-main", "a.c.Main")],
        ),
        ({"Loud.java": LOUD, "test/Other.java": MAIN, "LoudTest.java": LOUD}, [("loud", "Loud")]),
        (
            {
                "build.gradle": b"application {\n  mainClass = 'a.b.Main'\n}\n",
                "settings.gradle": b"rootProject.name = 'greet'\n",
                PATH: MAIN,
                "src/main/java/Loud.java": LOUD,
            },
            [("greet", "a.b.Main")],
        ),
    ],
)
def test_commands_are_found(kit, files, found):
    told = detect(kit.tree(files), kit.rule).entry_points
    assert [(e.tool, e.target) for e in told] == found
    assert {e.kind for e in told} == {"java-main"}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({**pom("<modules><module>cli</module></modules>"), PATH: MAIN}, "a Maven build of 1 modules"),
        ({**pom(), "src/main/java/A.java": b"class A { }\n"}, "a java library"),
    ],
)
def test_what_is_no_single_program_is_refused(kit, files, why):
    with pytest.raises(RefusedError, match=why):
        detect(kit.tree(files), kit.rule)


@pytest.mark.parametrize(
    "text",
    [b"<project", b"\xff", b'<!DOCTYPE p [<!ENTITY a "b">]><project><artifactId>&a;</artifactId></project>', b"<a/>"],
)
def test_a_pom_that_cannot_be_read_says_nothing(kit, text):
    found = Pom(kit.tree({"pom.xml": text, "A.java": MAIN}))
    assert (found.artifact, list(found.dependencies()), found.modules) == ("", [], [])


def test_properties_that_name_each_other_end(kit):
    found = Pom(kit.tree(pom("<properties><a>${b}${b}</a><b>${a}${a}</b></properties>" + declared("${a}"))))
    assert len(found.filled("${a}")) < 1 << 21


@pytest.mark.parametrize(
    ("dependency", "why"),
    [
        (coordinates(more="<scope>system</scope><systemPath>lib/x.jar</systemPath>"), "scope 'system'"),
        (coordinates("<version>[1,2)</version>"), "no fixed version"),
        (coordinates("<version>1-SNAPSHOT</version>"), "no fixed version"),
        (coordinates("<version>${absent}</version>"), "no fixed version"),
        (coordinates(more="<type>exe</type>"), "no jar"),
        ("<groupId>../x</groupId><artifactId>y</artifactId><version>1</version>", "no jar"),
    ],
)
def test_a_dependency_that_no_registry_fixes_is_refused_by_name(kit, asked, dependency, why):
    with pytest.raises(BuildRefusedError, match=f"needs_network_build: .*{why}"):
        fetch_maven(kit.tree({**pom(needs(dependency)), PATH: MAIN}), asked())


@pytest.mark.parametrize(
    "line", ["implementation project(':core')", "api libs.words", "implementation files('x.jar')", "shadow 'a:b:1'"]
)
def test_gradle_with_more_than_coordinates_is_refused(kit, asked, line):
    build = f"plugins {{\n}}\ndependencies {{\n  testImplementation 'j:j:1'\n  {line}\n}}\n".encode()
    with pytest.raises(BuildRefusedError, match="needs_network_build: Gradle's"):
        fetch_maven(kit.tree({"build.gradle": build, PATH: MAIN}), asked(build_system="gradle"))


def test_maven_reads_no_plugin_repository_or_parent_of_the_source(kit):
    evil = (
        "<parent><groupId>p</groupId><artifactId>parent</artifactId><version>3</version><relativePath>../p</relativePath>"
        "</parent>"
        "<repositories><repository><url>http://forge.example</url></repository></repositories>"
        "<build><extensions><extension/></extensions><plugins><plugin/></plugins></build>"
    )
    source = kit.tree({**pom(evil + needs(coordinates(""))), PATH: MAIN})
    found = Pom(source)
    text = project(list(found.dependencies()), managed(found)).decode()
    assert "<artifactId>parent</artifactId><version>3</version><scope>import</scope><type>pom</type>" in text
    assert "<artifactId>words</artifactId>" in text
    assert not any(word in text for word in ("plugin", "repositor", "extension", "<parent>", "relativePath"))


def test_a_source_for_a_newer_java_is_refused(kit, jdk, asked):
    body = "<properties><maven.compiler.release>99</maven.compiler.release></properties>"
    with pytest.raises(BuildRefusedError, match=r"pom\.xml wants java 99") as refused:
        build_source(kit.tree({**pom(body), PATH: MAIN}), asked())
    assert refused.value.word == "toolchain_too_old"


SHOWS = b"""package a.b;
public class Main {
  public static void main(String[] args) throws Exception {
    String text = new String(Main.class.getResourceAsStream("/text.txt").readAllBytes());
    System.out.print(text + args.length + String.join("|", args));
    System.exit(args.length);
  }
}
"""


def test_a_program_starts_with_its_words_and_its_filtered_resources(kit, jdk, asked, tmp_path):
    body = "<build><resources><resource><filtering>true</filtering></resource></resources></build>"
    files = {
        **pom(body),
        PATH: SHOWS,
        "src/main/resources/text.txt": b"v${project.version} ${other} ",
        "src/main/java/module-info.java": b"module a.b { }\n",
        "src/test/java/T.java": b"no java",
    }
    built = build_source(kit.tree(files), asked(vendor=()))
    again = build_source(kit.tree(files), asked(vendor=()))
    assert built.install == again.install
    write_tree(os.fspath(tmp_path / "tree"), built.install)
    launcher = open_launcher(run_view(asked().toolchain))
    result = launcher.run(
        Request(
            program=built.program,
            argv=(b"greet", b"a b", b""),
            env=case_env(),
            limits=Limits(**kit.limits["capture"]),
            mounts=(Mount(source=os.fspath(tmp_path / "tree"), target=ORACLE),),
        )
    )
    launcher.close()
    assert (result.exit_code, result.stdout, result.stderr) == (2, b"v1.2 ${other} 2a b|", b"")
    assert result.files == ()


def test_a_class_that_is_not_made_is_refused(kit, jdk, asked):
    with pytest.raises(BuildRefusedError, match=r"the build makes no class 'gone\.Main'"):
        build_source(kit.tree({**pom(), PATH: MAIN}), asked(target="gone.Main", vendor=()))


def test_calls_stand_before_statements_and_move_no_line():
    source = b"""class A {
  A(int n) {
    super();
    if (n > 0 &&
        n < 9)
      f(n);
    else
      for (;;) return;
  }
  int f(int n) {
    switch (n) { case 1: n++; break; default: }
    Runnable r = () -> {
      g();
    };
    return n;
  }
}
"""
    told = telling(source, 5)
    assert told.text.count(b"\n") == source.count(b"\n")
    assert sorted(told.lines) == list(range(5, 5 + len(told.lines)))
    assert sorted(told.lines.values()) == [(4, 5), (6,), (8,), (8,), (11,), (11,), (11,), (12,), (13,), (15,)]
    assert b"super();" in told.text.splitlines()[2]
    assert told.text.splitlines()[5] == b"      { programsmith.Lines.at(6); f(n); }"

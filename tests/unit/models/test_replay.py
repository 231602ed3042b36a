"""Answers that are written in the project."""

import pytest

from programsmith.errors import InputError
from programsmith.models.replay import replayed
from programsmith.models.request import Request


def ask(number=0, text="x", model="replay/said/so"):
    return Request(block="pick", number=number, model=model, system="s", turns=(("user", text),), answer_tokens=9)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "said" / "so").mkdir(parents=True)
    return tmp_path


def write(project, text):
    (project / "said" / "so" / "pick.yaml").write_text(text)


def test_answers_come_in_the_order_of_the_calls(project):
    write(project, "- answer: {choice: 1}\n- answer: no JSON\n")
    assert [replayed(ask(n), project).text for n in (0, 1, 0)] == ['{"choice": 1}', "no JSON", '{"choice": 1}']


def test_an_answer_to_one_question_is_given_wherever_it_comes(project):
    write(project, f"- answer: first\n- {{request: {ask(text='y').asked}, answer: own}}\n- answer: second\n")
    assert [replayed(ask(n), project).text for n in (0, 1)] == ["first", "second"]
    assert replayed(ask(7, "y"), project).text == "own"


def test_a_missing_answer_names_the_file_the_call_and_the_question(project):
    write(project, "- answer: first\n")
    with pytest.raises(InputError) as error:
        replayed(ask(1), project)
    said = str(error.value)
    assert said.startswith(f"{project / 'said' / 'so' / 'pick.yaml'}: wanted an answer to call 2 of pick")
    assert ask(1).asked in said


@pytest.mark.parametrize("text", ["", "a: 1\n", "- 1\n", "- {request: x}\n", "- [\n"])
def test_a_file_of_another_form_is_refused(project, text):
    write(project, text)
    with pytest.raises(InputError, match="wanted a list of items with `answer`"):
        replayed(ask(), project)


def test_a_file_that_is_not_there_is_named(project):
    with pytest.raises(InputError, match="got no such file"):
        replayed(ask(), project)

"""The gateway's parts without a process: strict JSON, prices, budgets, classes of failures, Retry-After, terms."""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal
from types import SimpleNamespace

import pytest

from programsmith.errors import InputError, PrerequisiteError
from programsmith.gateway.answers import error
from programsmith.gateway.failures import Failures, retry_after
from programsmith.gateway.keys import key
from programsmith.gateway.meter import Meter
from programsmith.gateway.prepare import Asked, prepared
from programsmith.gateway.price import Bounds, Price, Tokens
from programsmith.gateway.refusal import Refused, Why
from programsmith.gateway.strict import Caps, read, written
from programsmith.gateway.terms import Terms, terms
from programsmith.rulebook.load import Rulebook
from tests.samples.gateways import FLASH, GPT, HAIKU, MODELS, message, rules

CAPS = Caps(depth=5, values=20, digits=20)
FAILURES = Failures(Rulebook(None).load("failures"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a":1,"a":2}', "stands twice"),
        (b'{"a":{"b":1,"\\u0062":2}}', "stands twice"),
        (b'{"a":NaN}', "no JSON number"),
        (b'{"a":-Infinity}', "no JSON number"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":' + b"9" * 21 + b"}", "digits"),
        (b'{"a":0.' + b"1" * 21 + b"}", "digits"),
        (b"[[[[[[1]]]]]]", "nested deeper"),
        (b"[" * 100_000 + b"]" * 100_000, "nested deeper"),
        (b"[" + b"1," * 30 + b"1]", "more than 20 values"),
        (b'{"a":"\xff"}', "not UTF-8"),
        (b'\xef\xbb\xbf{"a":1}', "no JSON"),
        (b'{"a":1} {"b":2}', "no JSON"),
        (b'{"a":1,}', "no JSON"),
        (b"{'a':1}", "no JSON"),
        (b'{"a":"\n"}', "no JSON"),
        (b"", "no JSON"),
    ],
)
def test_json_that_two_readers_could_read_differently_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        read(body, CAPS)
    assert refused.value.why is Why.JSON


def test_json_is_written_anew() -> None:
    assert written(read(b' {"a" : "\\u00e9\\/", "b":[1.50, true] }', CAPS)) == '{"a":"é/","b":[1.5,true]}'.encode()
    assert written(read(b'{"a":"\\ud83d"}', CAPS)) == b'{"a":"\\ud83d"}'


def price(name: str) -> Price:
    return Price.of(Rulebook(None).load("models")["models"][name])


def test_each_kind_of_token_has_its_price() -> None:
    tokens = Tokens(input=1000, cache_read=10_000, cache_write=100, cache_write_long=10, output=50)
    assert price(HAIKU).usd(tokens) == Decimal("0.001") + Decimal("0.001") + Decimal("0.000125") + Decimal(
        "0.00002"
    ) + Decimal("0.00025")
    assert price(FLASH).usd(Tokens(cache_read=1_000_000)) == Decimal("0.3"), "no price of its own: the input's"


def test_a_long_request_costs_more_in_all_of_its_parts() -> None:
    gpt = price("openai/gpt-5.5")
    assert gpt.usd(Tokens(input=272_000, output=100)) == Decimal("1.363")
    assert gpt.usd(Tokens(input=272_000, cache_read=1, output=100)) == Decimal("2.724501")


@pytest.mark.parametrize("name", [HAIKU, GPT, FLASH, "openai/gpt-5.5", "google/gemini-2.5-pro"])
@pytest.mark.parametrize("taken", [1, 199_999, 272_000, 272_001, 900_000])
def test_no_call_costs_more_than_its_bound(name: str, taken: int) -> None:
    bound = price(name).at_most(taken, 1000, lasting=True)
    for kind in ("input", "cache_read", "cache_write", "cache_write_long"):
        assert price(name).usd(Tokens(**{kind: taken}, output=1000)) <= bound
    room = price(name).output_for(bound, taken, 10**9, lasting=True)
    assert room >= 1000
    assert price(name).at_most(taken, room, lasting=True) <= bound
    assert price(name).output_for(Decimal(0), taken, 10, lasting=True) <= 0


@pytest.mark.parametrize(("ttl", "dollars"), [("5m", "1.25"), ("1h", "2")])
def test_a_cache_that_lives_longer_is_bound_higher_where_it_is_asked_for(ttl: str, dollars: str) -> None:
    cache = {"type": "ephemeral", "ttl": ttl}
    block = {"type": "text", "text": "x" * 1000, "cache_control": cache}
    body = json.dumps(message(messages=[{"role": "user", "content": [block]}]), indent=1).encode()
    allowed = agreed(10.0)
    asked = Asked(route=allowed.route("POST", "/v1/messages")[0], named="", body=body, betas="")
    call = prepared(allowed, asked, Decimal(10))
    taken = Decimal(len(call.payload)) / Decimal("2.5") + 4000
    assert abs(call.bound * 1_000_000 - taken * Decimal(dollars) - 100 * 5) < 10


def test_a_request_is_held_to_what_its_bytes_and_images_come_to() -> None:
    bounds = Bounds(bytes_per_token=2, image_tokens=8000, overhead_tokens=4000)
    assert bounds.taken(500, 2) == 20_250
    assert bounds.taken(500, 2, seen=3.0) == 20_250, "sparser text than the rule's lowers nothing"
    assert bounds.taken(500, 2, seen=1.0) == 20_500


def test_what_was_seen_of_a_request_is_its_bytes_a_token_beside_the_providers_own() -> None:
    bounds = Bounds(bytes_per_token=2, image_tokens=8000, overhead_tokens=4000)
    assert bounds.seen(9000, 10_000) == 1.5
    assert bounds.seen(9000, 20_000) == 1.0, "a byte is the least"
    assert bounds.seen(100, 4000) == math.inf, "the provider's own tokens say nothing of the text"


def test_calls_side_by_side_hold_side_by_side() -> None:
    meter = Meter(usd=Decimal("0.10"), calls_most=5)
    meter.hold(Decimal("0.06"))
    with pytest.raises(Refused, match=r"0\.06 held") as refused:
        meter.hold(Decimal("0.05"))
    assert (refused.value.told, refused.value.why) == ("budget", Why.BUDGET)
    meter.spend(Decimal("0.06"), Decimal("0.01"))
    meter.hold(Decimal("0.09"))
    assert meter.left == 0
    assert meter.calls == 2


def test_a_trial_makes_so_many_calls_and_without_a_budget_only_free_ones() -> None:
    meter = Meter(usd=None, calls_most=1)
    with pytest.raises(Refused):
        meter.hold(Decimal("0.000001"))
    meter.hold(Decimal(0))
    with pytest.raises(Refused, match="has made its 1 calls"):
        meter.hold(Decimal(0))


@pytest.mark.parametrize(
    ("status", "said", "name"),
    [
        (401, {"error": {"type": "authentication_error", "message": "invalid x-api-key"}}, "auth"),
        (403, {"error": {"type": "permission_error", "message": "no"}}, "auth"),
        (400, {"error": {"message": "Your credit balance is too low"}}, "auth"),
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}, "auth"),
        (400, [{"error": {"status": "INVALID_ARGUMENT", "message": "API key not valid."}}], "auth"),
        (429, {"error": {"type": "rate_limit_error", "message": "slow down"}}, "rate_limit"),
        (429, b"", "rate_limit"),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overload"),
        (503, "upstream", "overload"),
        (500, None, "overload"),
        (302, "", "network"),
        (400, {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}, "context_length"),
        (400, {"error": {"code": "context_length_exceeded", "message": "x"}}, "context_length"),
        (400, {"error": {"message": "The input token count exceeds the maximum number of tokens"}}, "context_length"),
        (400, {"error": {"code": "content_filter", "message": "x"}}, "refusal"),
        (400, {"error": {"message": "messages: at least one message is required"}}, "invalid"),
        (404, {"error": "model not found"}, "auth"),
        (404, {"error": {"code": "model_not_found", "message": "The model does not exist"}}, "auth"),
        (410, "", "auth"),
        (408, "", "overload"),
        (422, {"error": {"message": "unknown field"}}, "invalid"),
        (None, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overload"),
        (None, {"error": {"code": "context_length_exceeded", "message": "x"}}, "context_length"),
        (None, {"error": 3}, "overload"),
    ],
)
def test_each_failure_has_one_class(status: int | None, said: object, name: str) -> None:
    assert FAILURES.named(status, said) == name


@pytest.mark.parametrize(
    ("last", "trial"),
    [
        ("ok", "own"),
        (None, "own"),
        ("cancelled", "own"),
        ("invalid", "own"),
        ("auth", "infra"),
        ("rate_limit", "infra"),
        ("overload", "infra"),
        ("network", "infra"),
        ("context_length", "infra"),
        ("refusal", "infra"),
        ("budget", "stop"),
        ("calls", "stop"),
    ],
)
def test_what_a_trial_is_follows_from_how_its_last_call_ended(last: str | None, trial: str) -> None:
    assert FAILURES.trial(last) == trial


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Monday, 30-Nov-26 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:59:00 GMT", 0.0),
        ("99999999999", 604800.0),
        ("-5", None),
        ("soon", None),
        ("inf", None),
        ("٣", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, 1796040000.0) == seconds


def agreed(usd: float | None = 1.0, *models: str) -> Terms:
    return terms(rules(), models or MODELS, usd)


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages/"),
        ("POST", "/v1/messages/batches"),
        ("POST", "//v1/messages"),
        ("POST", "/v1/./messages"),
        ("POST", "/v1/files/../messages"),
        ("POST", "/v1/%6dessages"),
        ("POST", "/V1/messages"),
        ("POST", "http://api.anthropic.com/v1/messages"),
        ("POST", "/v1/messages;x"),
        ("POST", "/v1/messages#x"),
        ("POST", "/v1/responses/resp_1/cancel"),
        ("POST", "/v1beta/models/:generateContent"),
        ("POST", "/v1beta/models/a/b:generateContent"),
        ("POST", "/v1beta/models/a:b:generateContent"),
        ("POST", "/v1beta/cachedContents"),
        ("CONNECT", "api.anthropic.com:443"),
        ("OPTIONS", "*"),
    ],
)
def test_a_path_is_a_route_letter_by_letter_or_none(method: str, target: str) -> None:
    with pytest.raises(Refused) as refused:
        agreed().route(method, target)
    assert (refused.value.told, refused.value.why) == ("path", Why.PATH)


@pytest.mark.parametrize(
    "target",
    ["/v1/messages?key=x", "/v1/messages?beta=true&x=1", "/v1/chat/completions?a", "/v1/messages?beta=true%26"],
)
def test_a_query_that_no_route_has_is_refused(target: str) -> None:
    with pytest.raises(Refused) as refused:
        agreed().route("POST", target)
    assert refused.value.why is Why.FRAMING


@pytest.mark.parametrize(
    "name",
    [
        "claude-haiku-4-5 ", "Claude-haiku-4-5", "claude-haiku-4-5\u200b", "\u0441laude-haiku-4-5",
        "claude\u2010haiku-4-5",
        "anthropic/claude-haiku-4-5", "claude-opus-4-8", "gpt-5.4-mini", "", None, 1, ["claude-haiku-4-5"],
    ],
)  # fmt: skip
def test_no_other_spelling_of_a_model_passes(name: object) -> None:
    assert agreed().model("anthropic", "claude-haiku-4-5").name == HAIKU
    with pytest.raises(Refused) as refused:
        agreed().model("anthropic", name)
    assert refused.value.why is Why.MODEL


def test_a_model_without_a_price_or_a_provider_is_no_model() -> None:
    with pytest.raises(InputError, match=r"rules/models\.yaml has no price for it"):
        agreed(1.0, "openai/gpt-9")
    with pytest.raises(InputError, match=r"has no such provider; it has anthropic, openai"):
        agreed(1.0, "acme/x")


def test_a_key_never_crosses_a_network_in_the_clear() -> None:
    made = rules("http://192.0.2.7")
    with pytest.raises(InputError, match="would send a key in the clear"):
        terms(made, (HAIKU,), 1.0)
    made["models"]["models"]["vllm/own"] = made["models"]["models"][HAIKU]
    assert terms(made, ("vllm/own",), 1.0).model("chat", "own").provider.key is None


def test_models_that_a_client_cannot_tell_apart_are_refused() -> None:
    made = rules()
    made["models"]["models"] |= {"vllm/own": made["models"]["models"][GPT], "ollama/own": made["models"]["models"][GPT]}
    with pytest.raises(InputError, match="cannot tell them apart"):
        terms(made, ("vllm/own", "ollama/own"), 1.0)


def test_a_shape_that_is_not_there_is_refused() -> None:
    made = rules()
    made["gateway"]["shapes"]["a_tools"]["list"] = "a_tol"
    with pytest.raises(InputError, match=r"shapes\.a_tools: wanted the name of a shape, got `a_tol`"):
        terms(made, MODELS, 1.0)


def test_a_key_comes_from_the_environment_and_is_one_word() -> None:
    assert key("A_KEY", {"A_KEY": "sk-1"}) == "sk-1"
    for bad in ("sk 1", "sk-1\n", "ключ", "x" * 5000):
        with pytest.raises(PrerequisiteError) as fault:
            key("A_KEY", {"A_KEY": bad})
        assert bad not in str(fault.value)
    with pytest.raises(PrerequisiteError, match="A_KEY: no key in the environment"):
        key("A_KEY", {})


def test_a_key_is_taken_from_the_key_store_where_the_environment_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    store = SimpleNamespace(get_password=lambda service, name: f"{service}-{name}")
    monkeypatch.setitem(sys.modules, "keyring", store)
    assert key("A_KEY", {}) == "programsmith-A_KEY"


def test_each_protocol_has_its_own_words_for_an_error() -> None:
    row = FAILURES.answer("budget")
    assert error("anthropic", row, "m") == {"type": "error", "error": {"type": "billing_error", "message": "m"}}
    assert error("chat", row, "m")["error"]["code"] == "insufficient_quota"
    assert error("gemini", row, "m") == {"error": {"code": 402, "message": "m", "status": "FAILED_PRECONDITION"}}

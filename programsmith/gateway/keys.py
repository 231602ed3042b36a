"""The key of a provider: from the environment, else from the key store of the operating system.

In: the variable's name, an environment. Out: the key, which is printed nowhere. `keyring` is asked only where it is
installed and the environment has none; there the key lies under the service `programsmith` and the variable's name.
"""

from __future__ import annotations

from collections.abc import Mapping

from programsmith.errors import PrerequisiteError

SERVICE = "programsmith"
LONGEST = 4096


def key(variable: str, environment: Mapping[str, str]) -> str:
    """The key that goes with `variable`. Raises PrerequisiteError where there is none that a header can hold."""
    found = environment.get(variable) or _stored(variable)
    if not found:
        how = f"export {variable}=…, or: keyring set {SERVICE} {variable}"
        raise PrerequisiteError(f"{variable}: no key in the environment nor in the key store; {how}")
    if len(found) > LONGEST or not (found.isascii() and found.isprintable() and " " not in found):
        raise PrerequisiteError(f"{variable}: wanted one word of printable ASCII, got something else")
    return found


def _stored(variable: str) -> str | None:
    try:
        import keyring
    except ImportError:
        return None
    try:
        found = keyring.get_password(SERVICE, variable)
    except Exception:  # noqa: BLE001 - a store that cannot be asked has none; what it says could tell of the key
        return None
    return found if isinstance(found, str) else None

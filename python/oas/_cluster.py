"""The Dask cluster that work is given to."""

from __future__ import annotations

from typing import Any

from ._checks import typed
from ._errors import InvalidArgument


def cluster(client: Any) -> Any:
    """The client that was given, or the one that there is."""
    try:
        import distributed
    except ImportError as error:
        raise InvalidArgument("oas.distributed needs dask and distributed") from error
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            raise InvalidArgument(
                "client is None, and there is no active client; distributed.Client() makes one"
            ) from None
    if not isinstance(client, distributed.Client):
        raise InvalidArgument(f"client is {typed(client)}; it must be a distributed.Client")
    return client


def task(function: Any, *arguments: Any) -> Any:
    """Work for later, with tasks among the arguments; nothing is kept that nobody waits for."""
    import dask

    return dask.delayed(function, pure=False)(*arguments)


def itself(value: Any) -> Any:
    """A value as a task of its own, so that others share it."""
    return value

"""Appends messages to the outbox, with psycopg 3."""

import json
from dataclasses import dataclass
from uuid import UUID

import psycopg

DEDUP = "insert into outbox_dedup (dedup_key) values (%(dedup_key)s) on conflict do nothing"

# The payload is bound as bytes. Text that is bound as it is loses its backslashes.
INSERT = """
insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key, payload,
  content_type, headers, correlation_id, dedup_key)
values (%(aggregate_type)s, %(aggregate_id)s, %(event_type)s, %(partition_key)s, %(payload)s,
  %(content_type)s, %(headers)s, %(correlation_id)s, %(dedup_key)s)
returning id
"""


@dataclass(frozen=True)
class Message:
    aggregate_type: str
    aggregate_id: str
    event_type: str
    payload: bytes
    partition_key: str | None = None
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    correlation_id: str | None = None
    dedup_key: str | None = None

    def __post_init__(self) -> None:
        # The database lets a blank text pass, and cuts spaces off behind the 255th character.
        for column in ("aggregate_type", "aggregate_id", "event_type", "partition_key",
                       "content_type", "correlation_id", "dedup_key"):
            text = getattr(self, column)
            if text is None:
                continue
            if not text.strip():
                raise ValueError(f"{column} is blank: give it at least one visible character")
            if len(text) > 255:
                raise ValueError(f"{column} has {len(text)} characters, at most 255 are allowed")
        for name, value in self.headers:
            # JSON can have it, and no relay can take it.
            if "\0" in name + value:
                raise ValueError(f"header {name!r} has a NUL: remove it")


def append(connection: psycopg.Connection, message: Message) -> UUID | None:
    """Appends in the connection's transaction, behind the change that the message tells of.

    Gives the message's id, or None when its dedup key was used before.
    """
    values = vars(message) | {"headers": json.dumps(message.headers)}
    if message.dedup_key is not None and connection.execute(DEDUP, values).rowcount == 0:
        return None
    return connection.execute(INSERT, values).fetchone()[0]

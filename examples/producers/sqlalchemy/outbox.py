"""Appends messages to the outbox, with SQLAlchemy's ORM."""

from uuid import UUID

from sqlalchemy import JSON, Column, LargeBinary, MetaData, String, Table, insert
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import insert as insert_or_nothing
from sqlalchemy.orm import Session

_metadata = MetaData()

# Only what a producer may insert. A class for the ORM would not do: the ORM orders the statements of
# a flush as it likes, and it asks for columns that a producer may not read.
messages = Table(
    "outbox_message",
    _metadata,
    Column("id", postgresql.UUID(as_uuid=True)),
    Column("aggregate_type", String),
    Column("aggregate_id", String),
    Column("event_type", String),
    Column("partition_key", String),
    Column("payload", LargeBinary),
    Column("content_type", String),
    Column("headers", JSON),
    Column("correlation_id", String),
    Column("dedup_key", String),
)

dedup = Table("outbox_dedup", _metadata, Column("dedup_key", String))


def append(session: Session, *, payload: bytes, dedup_key: str | None = None, **columns) -> UUID | None:
    """Appends in the session's transaction, behind all changes that it has made so far.

    Takes the columns of outbox_message by their names; headers is a list of pairs. Gives the message's
    id, or None when its dedup key was used before.
    """
    _check({**columns, "dedup_key": dedup_key})
    # Without it the message may get its place in the order before the changed rows are locked.
    session.flush()
    if dedup_key is not None:
        first = insert_or_nothing(dedup).values(dedup_key=dedup_key).on_conflict_do_nothing()
        if session.execute(first).rowcount == 0:
            return None
    row = insert(messages).values(payload=payload, dedup_key=dedup_key, **columns)
    return session.execute(row.returning(messages.c.id)).scalar_one()


def _check(columns: dict) -> None:
    """The database lets a blank text pass, and cuts spaces off behind the 255th character."""
    for name, text in columns.items():
        if not isinstance(text, str):
            continue
        if not text.strip():
            raise ValueError(f"{name} is blank: give it at least one visible character")
        if len(text) > 255:
            raise ValueError(f"{name} has {len(text)} characters, at most 255 are allowed")
    for name, value in columns.get("headers") or ():
        # JSON can have it, and no relay can take it.
        if "\0" in name + value:
            raise ValueError(f"header {name!r} has a NUL: remove it")

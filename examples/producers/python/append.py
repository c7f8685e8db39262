"""Appends the messages of standard input, one JSON object a line, each in its own transaction."""

import base64
import json
import sys

import psycopg

from outbox import Message, append


def message(line: str) -> Message:
    fields = json.loads(line)
    if "payload_base64" in fields:
        fields["payload"] = base64.b64decode(fields.pop("payload_base64"))
    else:
        fields["payload"] = fields["payload"].encode()
    return Message(**fields)


def main() -> None:
    # Where the database is, PGHOST, PGUSER and the like say.
    with psycopg.connect(autocommit=True) as connection:
        for line in sys.stdin:
            try:
                with connection.transaction():
                    # Your own change comes first, in this transaction.
                    id = append(connection, message(line))
                said = {"duplicate": True} if id is None else {"id": str(id)}
            except (ValueError, psycopg.Error) as error:
                # Behind the first line PostgreSQL may show the row.
                said = {"error": str(error).splitlines()[0]}
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()

"""Appends the messages of standard input, one JSON object a line, each in its own transaction."""

import base64
import json
import sys

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from outbox import append


def columns(line: str) -> dict:
    fields = json.loads(line)
    if "payload_base64" in fields:
        fields["payload"] = base64.b64decode(fields.pop("payload_base64"))
    else:
        fields["payload"] = fields["payload"].encode()
    return fields


def main() -> None:
    # Where the database is, PGHOST, PGUSER and the like say.
    engine = create_engine("postgresql+psycopg2://")
    for line in sys.stdin:
        try:
            with Session(engine) as session, session.begin():
                # Your own change comes first, in this session.
                id = append(session, **columns(line))
            said = {"duplicate": True} if id is None else {"id": str(id)}
        except (ValueError, DBAPIError) as error:
            # Behind the first line PostgreSQL may show the row, and SQLAlchemy the parameters.
            said = {"error": str(error).splitlines()[0]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()

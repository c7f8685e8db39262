"""Reads all messages of a queue with pika, and writes what it found as lines of JSON."""

import base64
import json
import sys

import pika

url, queue = sys.argv[1:]
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
while True:
    method, properties, body = channel.basic_get(queue, auto_ack=True)
    if method is None:
        break
    print(
        json.dumps(
            [
                ["key", properties.headers["outbox-key"]],
                ["routing-key", method.routing_key],
                ["type", properties.type],
                ["message-id", properties.message_id],
                ["body", base64.b64encode(body).decode("ascii")],
                *[[name, value] for name, value in properties.headers.items()],
            ]
        )
    )
connection.close()

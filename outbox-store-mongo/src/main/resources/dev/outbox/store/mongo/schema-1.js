// The collections of the outbox, as commands of the database that holds them. No transaction is
// around them, so each may be run again: createIndexes makes its collection where there is none,
// collMod sets the validator of one that a producer has made before, and the version comes last.
// The user needs readWrite and dbAdmin.

// One document a message. The index "queue" is what a claim reads, and also where it finds the
// documents by plain insertOne, which have no status and no bucket yet.
db.runCommand({
  createIndexes: "outbox_message",
  indexes: [
    { name: "queue", key: { status: 1, bucket: 1, seq: 1 } },
    {
      name: "scheduled",
      key: { status: 1, bucket: 1, availableAt: 1, seq: 1 },
      partialFilterExpression: { status: "SCHEDULED" }
    },
    {
      name: "blocked",
      key: { status: 1, key: 1, seq: 1 },
      partialFilterExpression: { status: "BLOCKED" }
    },
    {
      name: "dead",
      key: { status: 1, seq: 1 },
      partialFilterExpression: { status: "DEAD" }
    }
  ]
});

// The limits of OutboxMessage, so that no document by plain insertOne can break a later step. What
// headers hold is not looked at here: such a document is claimed as a message that cannot be
// decoded. "moderate": one that came past the validator, as by a restore, can still be settled.
db.runCommand({
  collMod: "outbox_message",
  validationLevel: "moderate",
  validator: {
    $jsonSchema: {
      bsonType: "object",
      required: ["seq", "aggregateType", "aggregateId", "eventType", "payload"],
      properties: {
        seq: {
          bsonType: "timestamp",
          description: "is the message's place in the order: insert Timestamp(0, 0), and the server fills it in"
        },
        _id: {
          bsonType: ["objectId", "binData", "int", "long"],
          description: "is made by the driver when it is left out"
        },
        id: { bsonType: "binData" },
        aggregateType: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        aggregateId: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        eventType: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        partitionKey: {
          bsonType: "string",
          maxLength: 255,
          pattern: "\\S",
          description: "is the key; without it aggregateId is"
        },
        payload: {
          bsonType: ["binData", "string"],
          description: "has at most 1,000,000 bytes; a string is taken as UTF-8"
        },
        contentType: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        headers: {
          bsonType: ["array", "object"],
          maxItems: 100,
          description: "is [{name: ..., value: ...}, ...] or {name: value, ...}, at most 100 of them"
        },
        dedupKey: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        correlationId: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        createdAt: { bsonType: "date" },
        availableAt: {
          bsonType: "date",
          description: "is from 1970 to before 9999; without it the message is due at once"
        },
        availableMicros: {
          bsonType: "long",
          minimum: 0,
          maximum: NumberLong("253370764800000000"),
          description: "is availableAt in microseconds since 1970, where that is no whole millisecond"
        },
        bucket: {
          bsonType: "int",
          minimum: 0,
          maximum: 63,
          description: "is the library's, as status and key are: leave out all three"
        },
        status: { enum: ["PENDING", "SCHEDULED", "BLOCKED", "DEAD"] },
        key: { bsonType: "string", maxLength: 255, pattern: "\\S" },
        attempts: { bsonType: "int", minimum: 0 },
        lastError: { bsonType: "string" },
        lastFailedAt: { bsonType: "date" }
      }
    },
    $and: [
      {
        $or: [
          { bucket: { $exists: false }, status: { $exists: false }, key: { $exists: false } },
          { bucket: { $exists: true }, status: { $exists: true }, key: { $exists: true } }
        ]
      },
      { $or: [{ status: { $ne: "SCHEDULED" } }, { availableAt: { $exists: true } }] },
      {
        $or: [
          { id: { $exists: false } },
          {
            id: {
              $gte: UUID("00000000-0000-0000-0000-000000000000"),
              $lte: UUID("ffffffff-ffff-ffff-ffff-ffffffffffff")
            }
          }
        ]
      },
      {
        $or: [
          { availableAt: { $exists: false } },
          {
            availableAt: {
              $gte: ISODate("1970-01-01T00:00:00Z"),
              $lt: ISODate("9999-01-01T00:00:00Z")
            }
          }
        ]
      }
    ],
    $expr: {
      $and: [
        {
          $lte: [
            {
              $cond: [
                { $in: [{ $type: "$payload" }, ["binData", "string"]] },
                { $binarySize: "$payload" },
                0
              ]
            },
            1000000
          ]
        },
        {
          $lte: [
            {
              $cond: [
                { $eq: [{ $type: "$headers" }, "object"] },
                { $size: { $objectToArray: "$headers" } },
                0
              ]
            },
            100
          ]
        },
        { $lte: [{ $bsonSize: { headers: "$headers" } }, 100000] },
        { $lte: [{ $bsonSize: "$$ROOT" }, 4000000] }
      ]
    }
  }
});

// One document a key that waits: for its next try, or, halted, for a person.
db.runCommand({
  createIndexes: "outbox_blocked_key",
  indexes: [
    { name: "due", key: { bucket: 1, retryAt: 1 } },
    { name: "halted", key: { haltedBy: 1 }, sparse: true }
  ]
});

// Claims read these and the buckets all together: one of another type would stop them all.
db.runCommand({
  collMod: "outbox_blocked_key",
  validationLevel: "moderate",
  validator: {
    $jsonSchema: {
      required: ["bucket"],
      properties: {
        _id: { bsonType: "string" },
        bucket: { bsonType: "int", minimum: 0, maximum: 63 },
        retryAt: { bsonType: "date" },
        haltedBy: { bsonType: "timestamp" }
      }
    },
    $or: [{ retryAt: { $exists: true } }, { haltedBy: { $exists: true } }]
  }
});

// The unit that a relay leases: 64 documents, the first, and then 63 like it.
db.runCommand({
  update: "outbox_bucket",
  updates: [
    {
      q: { _id: 0 },
      u: {
        $setOnInsert: {
          token: NumberLong(0),
          fence: NumberLong(0),
          leaseUntil: ISODate("1970-01-01T00:00:00Z"),
          servedAt: ISODate("1970-01-01T00:00:00Z"),
          takeovers: 0,
          singles: 0
        }
      },
      upsert: true
    }
  ]
});
db.runCommand({
  aggregate: "outbox_bucket",
  pipeline: [
    { $match: { _id: 0 } },
    { $project: { _id: { $range: [1, 64] } } },
    { $unwind: "$_id" },
    {
      $set: {
        token: NumberLong(0),
        fence: NumberLong(0),
        leaseUntil: ISODate("1970-01-01T00:00:00Z"),
        servedAt: ISODate("1970-01-01T00:00:00Z"),
        takeovers: 0,
        singles: 0
      }
    },
    { $merge: { into: "outbox_bucket", whenMatched: "keepExisting", whenNotMatched: "insert" } }
  ],
  cursor: {}
});
db.runCommand({
  collMod: "outbox_bucket",
  validationLevel: "moderate",
  validator: {
    $jsonSchema: {
      required: ["token", "fence", "leaseUntil", "servedAt"],
      properties: {
        _id: { bsonType: "int", minimum: 0, maximum: 63 },
        token: { bsonType: "long", minimum: 0, maximum: NumberLong("4611686018427387904") },
        fence: { bsonType: "long", minimum: 0, maximum: NumberLong("4611686018427387904") },
        fenced: { bsonType: "bool" },
        relay: { bsonType: "string" },
        leasedAt: { bsonType: "date" },
        leaseUntil: { bsonType: "date" },
        servedAt: { bsonType: "date" },
        takeovers: { bsonType: "int", minimum: 0 },
        singles: { bsonType: "int", minimum: 0 }
      }
    }
  }
});

// Outlives its message, until the window is over.
db.runCommand({ createIndexes: "outbox_dedup", indexes: [{ name: "age", key: { createdAt: 1 } }] });
db.runCommand({
  collMod: "outbox_dedup",
  validationLevel: "moderate",
  validator: {
    $jsonSchema: {
      required: ["createdAt"],
      properties: {
        _id: { bsonType: "string", maxLength: 255 },
        createdAt: { bsonType: "date" }
      }
    }
  }
});

// The version, when the rest is there on a majority of the members.
db.runCommand({
  update: "outbox_schema",
  updates: [{ q: { _id: "outbox" }, u: { $max: { version: 1 } }, upsert: true }],
  writeConcern: { w: "majority" }
});

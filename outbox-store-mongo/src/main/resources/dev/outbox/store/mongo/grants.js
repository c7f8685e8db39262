// What the roles of producers and of relays need. Run it in the database of the outbox, as a user
// who may create roles there, and give them to users with db.grantRolesToUser("user", ["role"]).

// A producer may append, and nothing else: it reads, changes and deletes no message.
db.runCommand({
  createRole: "${producer}",
  roles: [],
  privileges: [
    { resource: { db: "${d}", collection: "${p}message" }, actions: ["insert"] },
    { resource: { db: "${d}", collection: "${p}dedup" }, actions: ["find", "insert", "update"] },
    { resource: { db: "${d}", collection: "${p}schema" }, actions: ["find"] }
  ]
});

// A relay claims, settles and tidies up. It makes and alters no collection.
db.runCommand({
  createRole: "${relay}",
  roles: [],
  privileges: [
    { resource: { db: "${d}", collection: "${p}message" }, actions: ["find", "update", "remove", "listIndexes"] },
    { resource: { db: "${d}", collection: "${p}blocked_key" }, actions: ["find", "insert", "update", "remove", "listIndexes"] },
    { resource: { db: "${d}", collection: "${p}bucket" }, actions: ["find", "insert", "update"] },
    { resource: { db: "${d}", collection: "${p}dedup" }, actions: ["find", "remove"] },
    { resource: { db: "${d}", collection: "${p}pause" }, actions: ["find", "insert", "update", "remove"] },
    { resource: { db: "${d}", collection: "${p}schema" }, actions: ["find"] }
  ]
});

// What the roles of consumers and of housekeeping need. Run it in the database of the inbox, as a user
// who may create roles there, and give them to users with db.grantRolesToUser("user", ["role"]).

// A consumer records, begins and completes. It forgets nothing: what it deleted would be handled
// again.
db.runCommand({
  createRole: "${consumer}",
  roles: [],
  privileges: [
    { resource: { db: "${d}", collection: "${p}message" }, actions: ["find", "insert", "update", "listIndexes"] },
    { resource: { db: "${d}", collection: "${p}schema" }, actions: ["find"] }
  ]
});

// Housekeeping deletes what has expired, and counts.
db.runCommand({
  createRole: "${housekeeper}",
  roles: [],
  privileges: [
    { resource: { db: "${d}", collection: "${p}message" }, actions: ["find", "remove", "listIndexes"] },
    { resource: { db: "${d}", collection: "${p}schema" }, actions: ["find"] }
  ]
});

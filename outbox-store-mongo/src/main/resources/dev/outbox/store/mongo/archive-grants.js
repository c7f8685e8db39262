// What a relay's role needs more where there is an archive. It changes and deletes nothing there: the
// server deletes what is older than the retention.
db.runCommand({
  grantPrivilegesToRole: "${relay}",
  privileges: [
    { resource: { db: "${d}", collection: "${p}message" }, actions: ["find", "insert", "listIndexes"] },
    { resource: { db: "${d}", collection: "${p}audit" }, actions: ["find", "insert", "listIndexes"] },
    { resource: { db: "${d}", collection: "${p}schema" }, actions: ["find"] }
  ]
});

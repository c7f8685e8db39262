package dev.outbox.store.mongo;

import java.nio.ByteBuffer;
import java.util.UUID;
import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/** UUIDs as binary data of subtype 4, whatever the client's own setting for them is. */
final class Uuids {
  private Uuids() {}

  static BsonBinary binary(UUID uuid) {
    return new BsonBinary(uuid);
  }

  /** Null when it is none. */
  static @Nullable UUID of(@Nullable Object value) {
    if (value instanceof UUID uuid) {
      return uuid;
    }
    if (value instanceof Binary binary
        && binary.getType() == BsonBinarySubType.UUID_STANDARD.getValue()
        && binary.length() == 16) {
      ByteBuffer bytes = ByteBuffer.wrap(binary.getData());
      return new UUID(bytes.getLong(), bytes.getLong());
    }
    return null;
  }
}

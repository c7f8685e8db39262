package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.store.core.internal.PrefixedNames;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** A script in Lua, which lies beside this class as a file. */
final class Script {
  private static final int LINE = '\n';

  private final byte[] text;
  private final byte[] sha1;

  private Script(String text) {
    this.text = text.getBytes(UTF_8);
    try {
      sha1 =
          HexFormat.of()
              .formatHex(MessageDigest.getInstance("SHA-1").digest(this.text))
              .getBytes(UTF_8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-1", e);
    }
  }

  /** One that stands for itself. */
  static Script alone(String name) {
    return new Script(PrefixedNames.resource(Script.class, name + ".lua"));
  }

  /**
   * One that begins with what all scripts share, and those of its folder; the server wants its
   * flags first.
   */
  static Script in(String folder, String name) {
    String own = PrefixedNames.resource(Script.class, folder + "/" + name + ".lua");
    int flags = own.indexOf(LINE) + 1;
    return new Script(
        own.substring(0, flags)
            + PrefixedNames.resource(Script.class, "head.lua")
            + PrefixedNames.resource(Script.class, folder + "/common.lua")
            + own.substring(flags));
  }

  /** With its whole text: in a transaction nobody could send it a second time. */
  CommandArguments whole(List<byte[]> keys, List<byte[]> arguments) {
    return command(Command.EVAL, text, keys, arguments);
  }

  /** Runs it now; the text is sent when the server does not know it, as after a restart. */
  Object run(Connection connection, List<byte[]> keys, List<byte[]> arguments) {
    try {
      return connection.executeCommand(command(Command.EVALSHA, sha1, keys, arguments));
    } catch (JedisNoScriptException e) {
      return connection.executeCommand(whole(keys, arguments));
    }
  }

  private static CommandArguments command(
      Command command, byte[] script, List<byte[]> keys, List<byte[]> arguments) {
    CommandArguments all = new CommandArguments(command).add(script).add(keys.size());
    keys.forEach(all::key);
    arguments.forEach(all::add);
    return all;
  }
}

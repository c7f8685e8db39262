package dev.outbox.tck.store;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Where the classes of a store ask the clock of the machine that they run on. They are those that
 * its class leads to, in its package and in packages below, and the same of its superclasses. What
 * a class calls stands in its constant pool.
 */
final class ClockCalls {
  private static final Pattern ASKS =
      Pattern.compile(
          "java\\.time\\.(Instant|(Local|Offset|Zoned)DateTime)\\.now\\(.*"
              + "|java\\.time\\.(Clock|InstantSource)\\.(instant|millis)\\(.*"
              + "|java\\.lang\\.System\\.currentTimeMillis\\(.*"
              + "|java\\.util\\.Calendar\\.getInstance\\(.*"
              + "|java\\.util\\.Date\\.<init>\\(\\)V");

  private final Set<String> found = new TreeSet<>();
  private int read;

  private ClockCalls() {}

  /**
   * Looks at a store's class.
   *
   * @return sentences as "MyStore calls Instant.now"; empty when there is none
   * @throws IOException when its class file cannot be read, as that of a class made at run time
   */
  static Set<String> of(Class<?> store) throws IOException {
    ClockCalls calls = new ClockCalls();
    for (Class<?> type = store;
        type != null && type.getClassLoader() != null;
        type = type.getSuperclass()) {
      calls.follow(type);
    }
    if (calls.read == 0) {
      throw new IOException("there is no class file of " + store.getName());
    }
    return calls.found;
  }

  private void follow(Class<?> first) throws IOException {
    String below =
        first.getPackageName().isEmpty() ? first.getName() + "$" : first.getPackageName() + ".";
    Set<String> known = new HashSet<>(Set.of(first.getName()));
    Deque<String> open = new ArrayDeque<>(known);
    for (String name = open.poll(); name != null; name = open.poll()) {
      try (InputStream file =
          first.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (file != null) {
          String type = name;
          ConstantPool pool = ConstantPool.read(new DataInputStream(new BufferedInputStream(file)));
          pool.calls().stream()
              .filter(call -> ASKS.matcher(call).matches())
              .forEach(call -> found.add(words(type, call)));
          pool.classes().stream()
              .filter(other -> other.startsWith(below))
              .filter(other -> !type.startsWith(other + "$")) // it names what it is nested in
              .filter(known::add)
              .forEach(open::add);
          read++;
        }
      }
    }
  }

  private static String words(String type, String call) {
    String method = call.substring(0, call.indexOf('(')).replaceFirst("^[a-z.]*", "");
    return "%s calls %s"
        .formatted(
            type.substring(type.lastIndexOf('.') + 1).replace('$', '.'),
            method.endsWith(".<init>") ? "new " + method.replace(".<init>", "()") : method + "()");
  }

  /**
   * What of it matters here.
   *
   * @param classes names of all classes that are mentioned
   * @param calls methods, as {@code java.time.Instant.now()Ljava/time/Instant;}
   */
  private record ConstantPool(List<String> classes, List<String> calls) {
    private static final int MAGIC = 0xCAFEBABE;

    /** By the format of class files, JVMS 4.4. */
    static ConstantPool read(DataInputStream in) throws IOException {
      if (in.readInt() != MAGIC) {
        throw new IOException("this is no class file");
      }
      in.skipNBytes(4); // its version
      int count = in.readUnsignedShort();
      String[] texts = new String[count];
      int[] first = new int[count];
      int[] second = new int[count];
      int[] tags = new int[count];
      for (int i = 1; i < count; i++) {
        tags[i] = in.readUnsignedByte();
        switch (tags[i]) {
          case 1 -> texts[i] = in.readUTF();
          case 3, 4 -> in.skipNBytes(4);
          case 5, 6 -> {
            in.skipNBytes(8);
            i++; // a long and a double have two places
          }
          case 7, 8, 16, 19, 20 -> first[i] = in.readUnsignedShort();
          case 9, 10, 11, 12, 17, 18 -> {
            first[i] = in.readUnsignedShort();
            second[i] = in.readUnsignedShort();
          }
          case 15 -> in.skipNBytes(3);
          default -> throw new IOException("its constant pool has the unknown tag " + tags[i]);
        }
      }
      List<String> classes = new ArrayList<>();
      List<String> calls = new ArrayList<>();
      for (int i = 1; i < count; i++) {
        if (tags[i] == 7) {
          classes.add(texts[first[i]].replace('/', '.'));
        } else if (tags[i] == 10 || tags[i] == 11) {
          calls.add(
              "%s.%s%s"
                  .formatted(
                      texts[first[first[i]]].replace('/', '.'),
                      texts[first[second[i]]],
                      texts[second[second[i]]]));
        }
      }
      return new ConstantPool(classes, calls);
    }
  }
}

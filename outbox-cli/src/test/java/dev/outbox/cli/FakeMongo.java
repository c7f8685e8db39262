package dev.outbox.cli;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.UnaryOperator;
import org.bson.BsonBinaryReader;
import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;

/** Speaks enough of MongoDB's protocol to answer commands as a server of another kind would. */
final class FakeMongo implements AutoCloseable {
  private static final int QUERY = 2004;
  private static final int REPLY = 1;
  private static final int MESSAGE = 2013;

  /** Of a message before its body: length, id, to which one it answers, kind. */
  private static final int HEADER = 16;

  private final ServerSocket socket;
  private final UnaryOperator<BsonDocument> answer;

  /**
   * @param answer of each command; the driver's greeting is {@code isMaster} or {@code hello}
   */
  FakeMongo(UnaryOperator<BsonDocument> answer) throws IOException {
    this.answer = answer;
    socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "fake-mongo");
    thread.setDaemon(true);
    thread.start();
  }

  private static String greeting(String more) {
    return """
    {ok: 1, helloOk: true, minWireVersion: 0, maxWireVersion: 21, maxBsonObjectSize: 16777216,
     maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000, %s}
    """
        .formatted(more);
  }

  /** Greets so, and answers all else with the second. */
  static FakeMongo answering(String greeting, String answer) throws IOException {
    return new FakeMongo(
        command ->
            BsonDocument.parse(
                command.getFirstKey().matches("hello|is[mM]aster") ? greeting(greeting) : answer));
  }

  int port() {
    return socket.getLocalPort();
  }

  private void accept() {
    while (!socket.isClosed()) {
      try {
        Socket client = socket.accept();
        start(() -> serve(client));
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      DataInputStream in = new DataInputStream(client.getInputStream());
      while (true) {
        byte[] header = in.readNBytes(HEADER);
        if (header.length < HEADER) {
          return;
        }
        ByteBuffer numbers = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        byte[] body = in.readNBytes(numbers.getInt(0) - HEADER);
        reply(client.getOutputStream(), numbers.getInt(4), numbers.getInt(12), body);
      }
    } catch (IOException e) {
      // the client has gone
    }
  }

  private void reply(OutputStream out, int request, int kind, byte[] body) throws IOException {
    byte[] document = encoded(answer.apply(command(kind, body)));
    // What stands between the header and the document in an answer of this kind.
    int between = kind == QUERY ? 20 : 5;
    ByteBuffer reply =
        ByteBuffer.allocate(HEADER + between + document.length).order(ByteOrder.LITTLE_ENDIAN);
    reply
        .putInt(reply.capacity())
        .putInt(1)
        .putInt(request)
        .putInt(kind == QUERY ? REPLY : MESSAGE);
    if (kind == QUERY) {
      reply.putInt(HEADER + 16, 1); // one document
    }
    reply.position(HEADER + between);
    out.write(reply.put(document).array());
    out.flush();
  }

  private static BsonDocument command(int kind, byte[] body) {
    int begin = 5; // flags, and the kind of the section
    if (kind == QUERY) {
      begin = 4;
      while (body[begin] != 0) {
        begin++; // the collection's name
      }
      begin += 9;
    }
    return new BsonDocumentCodec()
        .decode(
            new BsonBinaryReader(ByteBuffer.wrap(body, begin, body.length - begin).slice()),
            DecoderContext.builder().build());
  }

  private static byte[] encoded(BsonDocument document) {
    try (BasicOutputBuffer buffer = new BasicOutputBuffer();
        BsonBinaryWriter writer = new BsonBinaryWriter(buffer)) {
      new BsonDocumentCodec().encode(writer, document, EncoderContext.builder().build());
      return buffer.toByteArray();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

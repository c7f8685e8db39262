package dev.outbox.testing;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as maps, lists and values that are equal when the JSON means the same. It needs only
 * Jackson's parser: a whole library for JSON in an application's tests could change what Spring
 * finds there.
 */
final class Json {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private enum Special {
    NULL,
    NOT_JSON
  }

  private Json() {}

  /** Of what a test expects. */
  static Object expected(String json) {
    try {
      return read(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "what the test expects is no JSON: %s. It is: %s".formatted(e.getOriginalMessage(), json),
          e);
    }
  }

  /** Of what is there; equal to no JSON when it is none. */
  static Object parse(String json) {
    try {
      return read(json);
    } catch (JsonProcessingException e) {
      return Special.NOT_JSON;
    }
  }

  private static Object read(String json) throws JsonProcessingException {
    try (JsonParser parser = FACTORY.createParser(json)) {
      parser.nextToken();
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw new JsonParseException(parser, "there is more behind it");
      }
      return value;
    } catch (JsonProcessingException e) {
      throw e;
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a text cannot fail
    }
  }

  private static Object value(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw new JsonParseException(parser, "there is nothing");
    }
    return switch (token) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> array(parser);
      // 12.50 is 12.5, and 1E+1 is 10.
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDecimalValue().stripTrailingZeros();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> Special.NULL;
      default -> parser.getText();
    };
  }

  private static Map<String, Object> object(JsonParser parser) throws IOException {
    Map<String, Object> object = new HashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      object.put(name, value(parser));
    }
    return object;
  }

  private static List<Object> array(JsonParser parser) throws IOException {
    List<Object> array = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(value(parser));
    }
    return array;
  }
}

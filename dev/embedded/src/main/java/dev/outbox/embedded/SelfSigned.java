package dev.outbox.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A server's key, with a certificate that is signed by itself. */
public final class SelfSigned {
  public static final String PASSWORD = "changeit";
  public static final String ALIAS = "server";

  private SelfSigned() {}

  /**
   * Made by keytool.
   *
   * @param directory for its file
   * @param host as {@code dns:localhost} or {@code ip:127.0.0.1}
   */
  public static KeyStore keys(Path directory, String host)
      throws IOException, GeneralSecurityException {
    Path file = directory.resolve("keys.p12");
    String arguments =
        "-genkeypair -alias %s -keyalg RSA -dname CN=test -ext san=%s -validity 2 -storetype PKCS12 -storepass %s -keystore"
            .formatted(ALIAS, host, PASSWORD);
    List<String> keytool = new ArrayList<>();
    keytool.add(Machine.jdk("keytool"));
    keytool.addAll(List.of(arguments.split(" ")));
    keytool.add(file.toString());
    String unsaid = Program.run(keytool);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  /** The certificate alone, for who is to trust it. */
  public static KeyStore certificate(KeyStore keys) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(ALIAS, keys.getCertificate(ALIAS));
    return trusted;
  }

  /** Of the server. */
  public static SSLContext server(KeyStore keys) throws GeneralSecurityException {
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** Of a client that trusts the server. */
  public static SSLContext trusting(KeyStore keys) throws IOException, GeneralSecurityException {
    TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(certificate(keys));
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }
}

package dev.outbox.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * The outbox in the test's own database, with a relay that runs when the test says so and needs no
 * broker. Beside {@code @DataJpaTest}, {@code @JdbcTest} or {@code @SpringBootTest}. The database
 * is one that the outbox has a store for, with the outbox's tables; {@code
 * outbox.schema-mode=migrate} makes them.
 *
 * <p>There is a bean {@link dev.outbox.testing.RelayOnce}, which runs with the settings of {@code
 * outbox.relay.*} and the application's {@code RelayCustomizer} beans, in the thread of the test.
 * It publishes to a {@link dev.outbox.testing.RecordingPublisher}, which is empty before each test
 * method, or to the {@code MessagePublisher} that the application defines.
 *
 * <p>The relay sees what is committed. A slice puts a transaction around each test method: end it
 * with {@code TestTransaction}, or switch it off with {@code @Transactional(propagation =
 * NOT_SUPPORTED)}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ImportAutoConfiguration
@TestPropertySource(properties = "outbox.relay.enabled=false")
public @interface AutoConfigureOutbox {}

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
 * Puts a recording outbox in the place of the real one, so that a test needs neither the outbox's
 * tables nor a broker. Beside {@code @DataJpaTest}, {@code @JdbcTest} or {@code @SpringBootTest}.
 *
 * <p>There is a bean {@link dev.outbox.testing.RecordingOutbox}, into which the application's
 * {@code JoinedOutbox} appends. It refuses what the real one refuses, such as an append without a
 * transaction. Like a table it shows a message to its own transaction at once, to others after the
 * commit, and to nobody after a rollback. So a test sees its messages in the transaction that
 * Spring puts around it, and the next test does not. It is empty before each test method.
 *
 * <p>There is no relay, no publisher of the outbox and none of its meters. What is tested with the
 * tables takes {@link AutoConfigureOutbox}.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ImportAutoConfiguration
@TestPropertySource(properties = {"outbox.relay.enabled=false", "outbox.metrics.enabled=false"})
public @interface AutoConfigureRecordingOutbox {}

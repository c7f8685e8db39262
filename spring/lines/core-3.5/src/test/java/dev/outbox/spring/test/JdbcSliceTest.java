package dev.outbox.spring.test;

import dev.outbox.spring.shop.ShopApplication;
import org.springframework.boot.test.autoconfigure.jdbc.JdbcTest;
import org.springframework.test.context.ContextConfiguration;

/** The slice's annotation has moved between the generations of Boot; the tests have not. */
@JdbcTest(properties = "outbox.schema-mode=migrate")
@ContextConfiguration(classes = ShopApplication.class)
@AutoConfigureOutbox
class JdbcSliceTest extends JdbcSlice {}

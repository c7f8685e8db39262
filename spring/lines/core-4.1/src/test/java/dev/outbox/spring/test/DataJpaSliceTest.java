package dev.outbox.spring.test;

import dev.outbox.spring.shop.ShopApplication;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.test.context.ContextConfiguration;

/** The slice's annotation has moved between the generations of Boot; the tests have not. */
@DataJpaTest(properties = "outbox.append.application-events=true")
@ContextConfiguration(classes = ShopApplication.class)
@AutoConfigureRecordingOutbox
class DataJpaSliceTest extends DataJpaSlice {}

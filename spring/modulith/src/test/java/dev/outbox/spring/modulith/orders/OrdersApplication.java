package dev.outbox.spring.modulith.orders;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with Spring Modulith, as users write it. */
@SpringBootApplication
public class OrdersApplication {}

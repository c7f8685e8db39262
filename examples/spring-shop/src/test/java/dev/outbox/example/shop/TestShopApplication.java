package dev.outbox.example.shop;

import org.springframework.boot.SpringApplication;

/** The shop with servers of its own, for {@code spring-boot:test-run}. */
public class TestShopApplication {

  public static void main(String[] arguments) {
    SpringApplication.from(ShopApplication::main).run(arguments);
  }
}

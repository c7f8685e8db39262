package dev.outbox.example.shop;

import org.springframework.data.jpa.repository.JpaRepository;

/** The orders of the database. */
public interface Orders extends JpaRepository<Order, String> {}

package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.jdbc.DatabaseTests;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends DatabaseTests {
  DatabaseTest() {
    super(new Postgres());
  }

  /**
   * Claims the only message that is due. Now and then a keeper gives back all it kept, and leases
   * nothing for a moment; on a slow machine its claim is then empty, and says that it is to be
   * asked again.
   */
  static Claim claimOne(Keeper keeper, Claim.Request request) {
    Claim claim = keeper.claim(request);
    while (claim.messages().isEmpty() && claim.pollAgain()) {
      claim = keeper.claim(request);
    }
    assertThat(claim.messages()).hasSize(1);
    return claim;
  }
}

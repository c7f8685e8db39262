package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ListenersTest {

  private static RelayListener listener(InvocationHandler events) {
    return (RelayListener)
        Proxy.newProxyInstance(
            RelayListener.class.getClassLoader(), new Class<?>[] {RelayListener.class}, events);
  }

  @Test
  void eachEventReachesEachListenerWhateverAnotherThrows() throws ReflectiveOperationException {
    List<String> told = new ArrayList<>();
    RelayListener throwing =
        listener(
            (proxy, event, arguments) -> {
              throw new AssertionError("a bug in a listener");
            });
    RelayListener noting = listener((proxy, event, arguments) -> note(told, event));
    Listeners all = new Listeners(List.of(throwing, noting));
    for (Method event : RelayListener.class.getMethods()) {
      event.invoke(all, Stream.of(event.getParameterTypes()).map(ListenersTest::any).toArray());
      assertThat(told).containsExactly(event.getName());
      told.clear();
    }
  }

  private static Object note(List<String> told, Method event) {
    told.add(event.getName());
    return null;
  }

  private static Object any(Class<?> type) {
    return type == int.class ? (Object) 0 : null;
  }
}

package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.TimeoutException;

/**
 * Connects as a user to whom the broker does not say whether an exchange is there: RabbitMQ from
 * 4.2.6 on, where the user has no right to it.
 */
final class SilentAboutExchanges extends ConnectionFactory {
  @Override
  public Connection newConnection(List<Address> addresses, String name)
      throws IOException, TimeoutException {
    Connection connection = super.newConnection(addresses, name);
    return proxy(
        Connection.class,
        (proxy, method, arguments) -> {
          Object result = invoke(connection, method, arguments);
          return result instanceof Channel channel ? silent(channel) : result;
        });
  }

  private static Channel silent(Channel channel) {
    return proxy(
        Channel.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("exchangeDeclarePassive")) {
            channel.close();
            throw new IOException(refused(channel, "ACCESS_REFUSED - configure access refused"));
          }
          return invoke(channel, method, arguments);
        });
  }

  private static ShutdownSignalException refused(Channel channel, String text) {
    return new ShutdownSignalException(
        false,
        false,
        new AMQP.Channel.Close.Builder()
            .replyCode(AMQP.ACCESS_REFUSED)
            .replyText(text)
            .classId(40)
            .methodId(10)
            .build(),
        channel);
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}

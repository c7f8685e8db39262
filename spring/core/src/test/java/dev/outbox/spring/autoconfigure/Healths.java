package dev.outbox.spring.autoconfigure;

import java.util.Map;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;

/** The health of the outbox as the endpoint has it; the types of the two generations differ. */
public final class Healths {
  private Healths() {}

  public static String status(ApplicationContext context) {
    return health(context).getPropertyValue("status").toString();
  }

  public static Object broker(ApplicationContext context) {
    return ((Map<?, ?>) health(context).getPropertyValue("details")).get("broker");
  }

  public static Object error(ApplicationContext context) {
    return ((Map<?, ?>) health(context).getPropertyValue("details")).get("error");
  }

  /** Whether a group of the health endpoint, as liveness, counts the outbox. */
  public static boolean isMember(ApplicationContext context, String group) {
    Object groups = context.getBean("healthEndpointGroups");
    Object found = ReflectionTestUtils.invokeMethod(groups, "get", group);
    return Boolean.TRUE.equals(
        ReflectionTestUtils.<Boolean>invokeMethod(found, "isMember", "outbox"));
  }

  private static BeanWrapper health(ApplicationContext context) {
    Object health =
        ReflectionTestUtils.invokeMethod(context.getBean("outboxHealthIndicator"), "health");
    return PropertyAccessorFactory.forBeanPropertyAccess(health);
  }
}

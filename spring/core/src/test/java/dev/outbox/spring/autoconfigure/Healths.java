package dev.outbox.spring.autoconfigure;

import java.util.Map;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;

/** The health of the outbox as the endpoint has it; the types of the two generations differ. */
public final class Healths {
  private static final String OUTBOX = "outboxHealthIndicator";

  private Healths() {}

  public static String status(ApplicationContext context) {
    return status(context, OUTBOX);
  }

  static String status(ApplicationContext context, String indicator) {
    return health(context, indicator).getPropertyValue("status").toString();
  }

  public static Object broker(ApplicationContext context) {
    return details(context, OUTBOX).get("broker");
  }

  public static Object error(ApplicationContext context) {
    return details(context, OUTBOX).get("error");
  }

  public static Object detail(ApplicationContext context, String name) {
    return details(context, OUTBOX).get(name);
  }

  static Map<?, ?> details(ApplicationContext context, String indicator) {
    return (Map<?, ?>) health(context, indicator).getPropertyValue("details");
  }

  /** Whether a group of the health endpoint, as liveness, counts the outbox. */
  public static boolean isMember(ApplicationContext context, String group) {
    Object groups = context.getBean("healthEndpointGroups");
    Object found = ReflectionTestUtils.invokeMethod(groups, "get", group);
    return Boolean.TRUE.equals(
        ReflectionTestUtils.<Boolean>invokeMethod(found, "isMember", "outbox"));
  }

  private static BeanWrapper health(ApplicationContext context, String indicator) {
    Object health = ReflectionTestUtils.invokeMethod(context.getBean(indicator), "health");
    return PropertyAccessorFactory.forBeanPropertyAccess(health);
  }
}

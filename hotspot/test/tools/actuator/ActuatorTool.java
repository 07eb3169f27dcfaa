// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.util.TreeSet;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.micrometer.metrics.actuate.endpoint.MetricsEndpoint;
import org.springframework.context.ConfigurableApplicationContext;

/** The endpoint "metrics" of an application of Spring Boot's. */
public class ActuatorTool implements Load.Tool {
    /** The application; it scans no package, for this one has no name. */
    @EnableAutoConfiguration
    public static class Application {
    }

    private ConfigurableApplicationContext context;

    @Override
    public void begin() {
        context = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
            .properties("spring.main.banner-mode=off", "management.endpoints.access.default=unrestricted",
                "management.endpoints.jmx.exposure.include=metrics", "spring.jmx.enabled=true").run();
    }

    @Override
    public void end() {
        MetricsEndpoint endpoint = context.getBean(MetricsEndpoint.class);
        for (String name : new TreeSet<>(endpoint.listNames().getNames())) {
            if (name.startsWith("jvm.gc") || name.startsWith("jvm.memory.us")) {
                var metric = endpoint.metric(name, null);
                Load.say(name + " " + metric.getMeasurements() + " " + metric.getAvailableTags().stream().map(t -> t.getTag() + "=" + t.getValues()).toList());
            }
        }
    }
}

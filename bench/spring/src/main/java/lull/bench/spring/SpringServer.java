// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spring;

import java.util.LinkedHashMap;
import java.util.Map;
import lull.bench.service.RequestThreads;
import lull.bench.service.Service;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/** A web service on Spring Boot with embedded Tomcat, set up as its users do, bound to 127.0.0.1. */
public final class SpringServer implements Service.Running {
    private final ConfigurableApplicationContext context;

    private SpringServer(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /**
     * Starts the server; returns when it accepts requests.
     *
     * @param application the class that configures it
     * @param port to listen on; 0 chooses a free one
     * @param threads request threads of Tomcat, if they are platform threads ({@link RequestThreads})
     * @param more properties of this application
     * @param initializer adds beans
     */
    public static SpringServer start(Class<?> application, int port, int threads, Map<String, ?> more,
            ApplicationContextInitializer<ConfigurableApplicationContext> initializer) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("server.address", "127.0.0.1");
        properties.put("server.port", port);
        properties.put("server.tomcat.threads.max", threads);
        properties.put("server.tomcat.threads.min-spare", threads);
        properties.put("spring.threads.virtual.enabled", RequestThreads.areVirtual());
        // A load's connections persist.
        properties.put("server.tomcat.max-keep-alive-requests", -1);
        properties.put("server.tomcat.keep-alive-timeout", "10m");
        properties.put("server.shutdown", "graceful");
        properties.put("spring.lifecycle.timeout-per-shutdown-phase", "5s");
        properties.put("spring.main.banner-mode", "off");
        properties.put("logging.level.root", "warn");
        properties.putAll(more);
        SpringApplication spring = new SpringApplication(application);
        spring.setDefaultProperties(properties);
        spring.setRegisterShutdownHook(false);
        spring.addInitializers(initializer);
        return new SpringServer(spring.run());
    }

    /** Returns the bean of a type. */
    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    @Override
    public int port() {
        return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    @Override
    public void close() {
        context.close();
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.util.LinkedHashMap;
import java.util.Map;
import lull.bench.service.Service;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/** The compile service's web server: Spring Boot as its users set it up, bound to 127.0.0.1. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class CompileServer {
    /**
     * Starts the server; returns when it accepts requests.
     *
     * @param texts the sources by name
     * @param port to listen on; 0 chooses a free one
     * @param threads request threads of Tomcat
     */
    static Service.Running start(Map<String, String> texts, int port, int threads) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("server.address", "127.0.0.1");
        properties.put("server.port", port);
        properties.put("server.tomcat.threads.max", threads);
        properties.put("server.tomcat.threads.min-spare", threads);
        // A load's connections persist.
        properties.put("server.tomcat.max-keep-alive-requests", -1);
        properties.put("server.tomcat.keep-alive-timeout", "10m");
        properties.put("server.shutdown", "graceful");
        properties.put("spring.lifecycle.timeout-per-shutdown-phase", "5s");
        properties.put("spring.main.banner-mode", "off");
        properties.put("logging.level.root", "warn");

        SpringApplication application = new SpringApplication(CompileServer.class);
        application.setDefaultProperties(properties);
        application.setRegisterShutdownHook(false);
        application.addInitializers(context -> context.getBeanFactory().registerSingleton("compileController",
                new CompileController(new MemoryCompiler(), texts)));
        ConfigurableApplicationContext context = application.run();
        int actual = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return new Service.Running() {
            @Override
            public int port() {
                return actual;
            }

            @Override
            public void close() {
                context.close();
            }
        };
    }
}

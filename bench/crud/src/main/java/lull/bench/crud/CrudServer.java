// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lull.bench.service.Service;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;

/** The web server with its own database in memory, bound to 127.0.0.1. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableJpaRepositories(considerNestedRepositories = true)
@Import(CrudController.class)
class CrudServer {
    /**
     * Starts the server and fills the table of cities; returns when it accepts requests.
     *
     * @param port to listen on; 0 chooses a free one
     * @param threads request threads of Tomcat, and connections to the database
     */
    static Service.Running start(List<Cities.Row> cities, int port, int threads) {
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
        properties.put("spring.datasource.hikari.maximum-pool-size", threads);
        // A pause of the collector under test is no reason to give up.
        properties.put("spring.datasource.hikari.connection-timeout", 600_000);
        properties.put("spring.jpa.open-in-view", false);
        properties.put("spring.main.banner-mode", "off");
        properties.put("logging.level.root", "warn");

        SpringApplication application = new SpringApplication(CrudServer.class);
        application.setDefaultProperties(properties);
        application.setRegisterShutdownHook(false);
        ConfigurableApplicationContext context = application.run();
        try {
            context.getBean(JdbcTemplate.class).batchUpdate("insert into city (id, name, country) values (?, ?, ?)", cities, 1000,
                    (statement, city) -> {
                        statement.setInt(1, city.id());
                        statement.setString(2, city.name());
                        statement.setString(3, city.country());
                    });
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
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

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lull.bench.service.Service;
import lull.bench.spring.SpringServer;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
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
     * @param threads request threads of Tomcat, if they are platform threads, and connections to the database
     */
    static Service.Running start(List<Cities.Row> cities, int port, int threads) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("spring.datasource.hikari.maximum-pool-size", threads);
        // A pause of the collector under test is no reason to give up.
        properties.put("spring.datasource.hikari.connection-timeout", 600_000);
        properties.put("spring.jpa.open-in-view", false);
        SpringServer server = SpringServer.start(CrudServer.class, port, threads, properties, context -> { });
        try {
            server.bean(JdbcTemplate.class).batchUpdate("insert into city (id, name, country) values (?, ?, ?)", cities, 1000,
                    (statement, city) -> {
                        statement.setInt(1, city.id());
                        statement.setString(2, city.name());
                        statement.setString(3, city.country());
                    });
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        return server;
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.util.Map;
import lull.bench.service.Service;
import lull.bench.spring.SpringServer;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** The compile service's web server: Spring Boot as its users set it up, bound to 127.0.0.1. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class CompileServer {
    /**
     * Starts the server; returns when it accepts requests.
     *
     * @param texts the sources by name
     * @param port to listen on; 0 chooses a free one
     * @param threads request threads of Tomcat, if they are platform threads
     */
    static Service.Running start(Map<String, String> texts, int port, int threads) {
        return SpringServer.start(CompileServer.class, port, threads, Map.of(),
                context -> context.getBeanFactory().registerSingleton("compileController", new CompileController(new MemoryCompiler(), texts)));
    }
}

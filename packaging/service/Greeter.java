// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.sun.net.httpserver.HttpServer;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * A service to try a JDK with: {@code Greeter PORT}. Each answer takes some garbage, and names the collectors and how often
 * they have collected.
 */
public class Greeter {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(args[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> {
            byte[] answer = greeting().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            try (var out = exchange.getResponseBody()) {
                out.write(answer);
            }
        });
        server.start();
        System.out.println("ready at port " + server.getAddress().getPort());
    }

    private static String greeting() {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            words.add("word " + i);
        }
        StringBuilder text = new StringBuilder("hello, " + words.size() + " words");
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            text.append("; ").append(bean.getName()).append(' ').append(bean.getCollectionCount());
        }
        return text.append('\n').toString();
    }
}

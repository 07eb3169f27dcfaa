// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import feign.Feign;
import feign.FeignException;
import feign.Param;
import feign.RequestLine;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Clients that send by themselves again what was told busy, as they come.
 *
 * <pre>Repeats  feign|redisson  port  seconds</pre>
 *
 * Prints a line {@code target end} for each call, when its end is known. A target is {@code /CLIENT/NUMBER}, of Redisson {@code /CLIENT/BURST/NUMBER}:
 * what is sent at once, on one connection. The end is {@code ok}, {@code busy}, or what the client threw.
 */
public class Repeats {
    /** Of Redisson's commands so many are sent before the first is waited for. */
    private static final int AT_ONCE = 8;

    interface Api {
        @RequestLine("POST /feign/{number}")
        String post(@Param("number") String number, String body);
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[1]);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
        if (args[0].equals("feign")) {
            feign(port, end);
        } else {
            redisson(port, end);
        }
        System.out.flush();
        System.exit(0);
    }

    private static void feign(int port, long end) {
        Api api = Feign.builder().target(Api.class, "http://127.0.0.1:" + port);
        for (int n = 0; System.nanoTime() < end; n++) {
            String how;
            try {
                api.post(Integer.toString(n), "body");
                how = "ok";
            } catch (FeignException e) {
                how = e.status() == 503 ? "busy" : e.toString().replace('\n', ' ');
            }
            System.out.println("/feign/" + n + " " + how);
        }
    }

    private static void redisson(int port, long end) throws InterruptedException {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port).setConnectionPoolSize(1).setConnectionMinimumIdleSize(1)
                .setPingConnectionInterval(0).setTimeout(60_000);
        RedissonClient client = Redisson.create(config);
        for (int burst = 0; System.nanoTime() < end; burst++) {
            List<RFuture<Void>> all = new ArrayList<>();
            AtomicInteger left = new AtomicInteger(AT_ONCE);
            for (int n = 0; n < AT_ONCE; n++) {
                String target = "/redisson/" + burst + "/" + n;
                RFuture<Void> future = client.<String>getBucket(target).setAsync("value");
                future.whenComplete((value, error) -> {
                    synchronized (System.out) {
                        System.out.println(target + " " + (error == null ? "ok" : error.toString().startsWith("org.redisson.client.RedisBusyException")
                                || error.getMessage().startsWith("BUSY") ? "busy" : error.toString().replace('\n', ' ')));
                    }
                    left.decrementAndGet();
                });
                all.add(future);
            }
            for (RFuture<Void> future : all) {
                try {
                    future.get();
                } catch (ExecutionException e) {
                    // Has been said.
                    continue;
                }
            }
            while (left.get() > 0) {
                Thread.sleep(1);
            }
            Thread.sleep(5);
        }
    }
}

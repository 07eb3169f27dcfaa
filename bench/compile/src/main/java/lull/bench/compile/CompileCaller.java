// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lull.bench.load.HttpConnection;
import lull.bench.load.Order;
import lull.bench.service.Service;
import lull.bench.util.Json;

/** The load's side of the compile service: asks for sources in the order of the seed and checks each answer. */
final class CompileCaller implements Service.Caller {
    /** Long, as a debug build on a busy machine takes minutes for its first answers; phases end by themselves. */
    private static final int TIMEOUT_MILLIS = 600_000;

    private final List<Expected> expected;
    private final Order order;

    CompileCaller(List<Expected> expected, long seed) {
        this.expected = expected;
        this.order = new Order(expected.size(), seed);
    }

    @Override
    public int variety() {
        return expected.size();
    }

    @Override
    public Service.Connection connect(int port) {
        HttpConnection http = new HttpConnection(port, TIMEOUT_MILLIS);
        return new Service.Connection() {
            @Override
            public void request(long number) throws IOException, Service.WrongAnswerException {
                Expected source = expected.get(order.input(number));
                check(source, http.get("/compile?source=" + URLEncoder.encode(source.source(), StandardCharsets.UTF_8)));
            }

            @Override
            public void close() {
                http.close();
            }
        };
    }

    private static void check(Expected source, HttpConnection.Answer answer) throws Service.WrongAnswerException {
        String body = new String(answer.body(), StandardCharsets.UTF_8);
        String difference;
        try {
            difference = answer.status() == 200 ? source.difference(Json.parseObject(body)) : "status is " + answer.status() + ", expected 200";
        } catch (IllegalArgumentException e) {
            difference = e.getMessage();
        }
        if (difference != null) {
            throw new Service.WrongAnswerException(source.source() + ": " + difference + "; the answer begins: "
                    + body.substring(0, Math.min(body.length(), 200)));
        }
    }
}

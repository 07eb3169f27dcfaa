// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lull.bench.service.Service;

/** The load's side of a service whose answers are fixed: sends its requests in the order of the seed and checks each answer. */
public final class FixedCaller implements Service.Caller {
    /** Long, as a debug build on a busy machine takes minutes for its first answers; phases end by themselves. */
    public static final int TIMEOUT_MILLIS = 600_000;

    private final List<FixedRequest> requests;
    private final Order order;

    public FixedCaller(List<FixedRequest> requests, long seed) {
        this.requests = List.copyOf(requests);
        this.order = new Order(requests.size(), seed);
    }

    @Override
    public int variety() {
        return requests.size();
    }

    @Override
    public Service.Connection connect(int port) {
        HttpConnection http = new HttpConnection(port, TIMEOUT_MILLIS);
        return new Service.Connection() {
            @Override
            public void request(long number) throws IOException, Service.WrongAnswerException {
                FixedRequest request = requests.get(order.input(number));
                HttpConnection.Answer answer = request.send(http);
                String difference = request.difference(answer);
                if (difference != null) {
                    String text = new String(answer.body(), StandardCharsets.UTF_8);
                    throw new Service.WrongAnswerException(request.target() + (request.body() == null ? "" : " " + request.body()) + ": "
                            + difference + "; the answer begins: " + text.substring(0, Math.min(text.length(), 200)));
                }
            }

            @Override
            public void close() {
                http.close();
            }
        };
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.spark;

import java.io.IOException;
import java.nio.file.Path;
import lull.bench.service.HttpFront;
import lull.bench.service.HttpFront.Answer;
import lull.bench.service.Service;
import org.apache.spark.sql.AnalysisException;

/** Spark behind HTTP with one request: {@code POST /sql}, whose body is a query. */
final class SparkServer implements Service.Running {
    private final Spark spark;
    private final HttpFront front;

    SparkServer(Iterable<String> tables, Path data, boolean inHeap, int port, int threads) throws IOException {
        spark = new Spark(threads);
        boolean done = false;
        try {
            spark.open(tables, data, inHeap);
            front = new HttpFront(port, threads, this::answer);
            done = true;
        } finally {
            if (!done) {
                spark.close();
            }
        }
    }

    private Answer answer(HttpFront.Request request) {
        if (!request.method().equals("POST") || !request.path().equals("/sql")) {
            return new Answer(404, "there is only POST /sql\n");
        }
        try {
            return Answer.ok(spark.answer(request.body()));
        } catch (AnalysisException e) {
            return new Answer(400, "this is no query: " + e.getMessage() + "\n");
        } catch (RuntimeException e) {
            return new Answer(500, "Spark did not answer: " + e + "\n");
        }
    }

    @Override
    public int port() {
        return front.port();
    }

    @Override
    public void close() throws IOException {
        front.close();
        spark.close();
    }
}

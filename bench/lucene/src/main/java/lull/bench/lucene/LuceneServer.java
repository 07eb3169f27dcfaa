// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.lucene;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import lull.bench.service.HttpFront;
import lull.bench.service.HttpFront.Answer;
import lull.bench.service.Service;
import org.apache.lucene.queryparser.classic.ParseException;

/** An index behind HTTP with one request: {@code GET /search?q=QUERY}. */
final class LuceneServer implements Service.Running {
    private final Searches searches;
    private final HttpFront front;

    /** Takes {@code searches} and closes them in the end. */
    LuceneServer(Searches searches, int port, int threads) throws IOException {
        this.searches = searches;
        try {
            front = new HttpFront(port, threads, this::answer);
        } catch (IOException e) {
            searches.close();
            throw e;
        }
    }

    private Answer answer(HttpFront.Request request) throws IOException {
        if (!request.method().equals("GET") || !request.path().equals("/search")) {
            return new Answer(404, "there is only GET /search?q=QUERY\n");
        }
        if (request.query() == null || !request.query().startsWith("q=")) {
            return new Answer(400, "the parameter 'q' is missing\n");
        }
        try {
            return Answer.ok(searches.answer(URLDecoder.decode(request.query().substring(2), StandardCharsets.UTF_8)));
        } catch (ParseException | IllegalArgumentException e) {
            return new Answer(400, "this is no query: " + e.getMessage() + "\n");
        }
    }

    @Override
    public int port() {
        return front.port();
    }

    @Override
    public void close() throws IOException {
        // First this, which waits for what still runs: an index that is closed under a search may end the process.
        front.close();
        searches.close();
    }
}

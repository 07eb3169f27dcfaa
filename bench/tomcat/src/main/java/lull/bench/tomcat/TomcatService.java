// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import lull.bench.load.FixedCaller;
import lull.bench.load.FixedRequest;
import lull.bench.service.Options;
import lull.bench.service.Service;

/**
 * A shop on embedded Tomcat, without a framework, sessions or a database. Half of the requests show a basket that comes as JSON,
 * a third is a search that comes as a form, the others show a product. {@link #prepare} renders the pages without Tomcat.
 * It has no options.
 */
public final class TomcatService implements Service {
    private static final int REQUESTS = 300;
    /** Raise it when pages or requests change. */
    private static final String ORIGIN = "shop 1, " + Shop.PRODUCTS + " products, " + REQUESTS + " requests, Java ";

    @Override
    public String name() {
        return "tomcat";
    }

    @Override
    public String describe() {
        return "A servlet on embedded Tomcat; a request parses a form or a JSON basket and renders a page of a shop with " + Shop.PRODUCTS + " products";
    }

    @Override
    public void prepare(Path data, Map<String, String> options) throws IOException {
        new Options(options, Set.of());
        String origin = ORIGIN + System.getProperty("java.runtime.version");
        if (FixedRequest.isOf(data, origin)) {
            return;
        }
        List<FixedRequest> requests;
        try {
            requests = requests(new Shop().pages());
        } catch (Pages.RefusedException e) {
            throw new IllegalStateException(e);
        }
        FixedRequest.write(data, origin, requests);
        System.out.println("prepared " + requests.size() + " requests in " + data);
    }

    private static List<FixedRequest> requests(Pages pages) throws Pages.RefusedException {
        Random random = new Random(1);
        List<FixedRequest> all = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            switch (i % 6) {
                case 0, 1, 2 -> {
                    String currency = random.nextBoolean() ? "EUR" : "CHF";
                    String sort = random.nextBoolean() ? "name" : "none";
                    String json = basket(random, i);
                    all.add(FixedRequest.post("/basket?currency=" + currency + "&sort=" + sort, "application/json", json,
                            pages.basket(currency, sort, json)));
                }
                case 3, 4 -> {
                    String words = word(random) + (random.nextInt(3) == 0 ? " " + word(random) : "");
                    String page = "" + random.nextInt(3);
                    all.add(FixedRequest.post("/search", "application/x-www-form-urlencoded",
                            "words=" + URLEncoder.encode(words, StandardCharsets.UTF_8) + "&page=" + page, pages.search(words, page)));
                }
                default -> {
                    String id = "" + random.nextInt(Shop.PRODUCTS);
                    all.add(FixedRequest.get("/product?id=" + id, pages.product(id)));
                }
            }
        }
        return all;
    }

    private static String basket(Random random, int number) {
        StringBuilder json = new StringBuilder("{\"customer\": \"customer \\u00e9 & " + number + "\", \"items\": [");
        int items = 1 + random.nextInt(20);
        for (int i = 0; i < items; i++) {
            json.append(i == 0 ? "" : ", ").append("{\"product\": ").append(random.nextInt(Shop.PRODUCTS))
                    .append(", \"quantity\": ").append(1 + random.nextInt(3)).append('}');
        }
        return json.append("]}").toString();
    }

    private static String word(Random random) {
        return Catalogue.WORDS.get(random.nextInt(Catalogue.WORDS.size()));
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        return new TomcatServer(new ShopServlet(new Shop()), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new FixedCaller(FixedRequest.read(data), seed);
    }
}

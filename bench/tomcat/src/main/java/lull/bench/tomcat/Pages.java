// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import lull.bench.util.Json;

/** What the pages of the shop show: depends on the request and the catalogue only. Safe for use by many threads. */
final class Pages {
    private static final int PER_PAGE = 20;
    private static final int OTHERS = 12;

    private final Catalogue catalogue;
    private final Template basket = Template.load("basket.html");
    private final Template search = Template.load("search.html");
    private final Template product = Template.load("product.html");

    Pages(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    /** A request that cannot be answered: the status and why. */
    static final class RefusedException extends Exception {
        private final int status;

        RefusedException(int status, String message) {
            super(message);
            this.status = status;
        }

        int status() {
            return status;
        }
    }

    /**
     * Returns the page of a basket.
     *
     * @param currency of the prices
     * @param sort {@code name}, or the order of the basket
     * @param json customer and items, each a product and a quantity
     */
    String basket(String currency, String sort, String json) throws RefusedException {
        List<Map<String, Object>> lines = new ArrayList<>();
        List<Catalogue.Product> bought = new ArrayList<>();
        String customer;
        long total = 0;
        long count = 0;
        try {
            Map<String, Object> order = Json.parseObject(json);
            customer = (String) order.get("customer");
            for (Object each : (List<?>) order.get("items")) {
                Map<?, ?> item = (Map<?, ?>) each;
                Catalogue.Product found = find((Long) item.get("product"));
                long quantity = (Long) item.get("quantity");
                Map<String, Object> line = show(found);
                line.put("quantity", quantity);
                line.put("sum", money(quantity * found.cents()));
                lines.add(line);
                bought.add(found);
                total += quantity * found.cents();
                count += quantity;
            }
        } catch (IllegalArgumentException | ClassCastException | NullPointerException e) {
            throw new RefusedException(400, "this is no basket: " + e.getMessage());
        }
        if (customer == null || bought.isEmpty()) {
            throw new RefusedException(400, "a basket needs a customer and an item");
        }
        if (sort.equals("name")) {
            lines.sort(Comparator.comparing(line -> (String) line.get("name")));
        }
        int percent = count >= 20 ? 10 : count >= 10 ? 5 : 0;
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("customer", customer);
        values.put("currency", currency);
        values.put("lines", lines);
        values.put("count", count);
        values.put("total", money(total));
        values.put("discounts", percent == 0 ? List.of() : List.of(Map.of("percent", percent, "reason", count + " items")));
        values.put("due", money(total - total * percent / 100));
        values.put("others", others(bought));
        return basket.render(values);
    }

    /** Returns the page {@code page}, from 0, of the products that have all {@code words}, the cheapest first. */
    String search(String words, String page) throws RefusedException {
        int first = PER_PAGE * (int) number("page", page);
        List<String> wanted = Arrays.asList(words.toLowerCase(Locale.ROOT).trim().split("\\s+"));
        List<Catalogue.Product> found = new ArrayList<>();
        for (Catalogue.Product each : catalogue.all()) {
            if (Arrays.asList((each.name() + " " + each.text()).split(" ")).containsAll(wanted)) {
                found.add(each);
            }
        }
        found.sort(Comparator.comparingInt(Catalogue.Product::cents).thenComparingInt(Catalogue.Product::id));
        List<Catalogue.Product> shown = found.subList(Math.min(first, found.size()), Math.min(first + PER_PAGE, found.size()));
        return search.render(Map.of("words", words, "page", page, "found", found.size(), "products", shown.stream().map(Pages::show).toList()));
    }

    /** Returns the page of one product. */
    String product(String id) throws RefusedException {
        Catalogue.Product found = find(number("id", id));
        Map<String, Object> values = show(found);
        values.put("others", others(List.of(found)));
        return product.render(values);
    }

    /** Other products of the same categories, those with the nearest prices. */
    private List<Map<String, Object>> others(List<Catalogue.Product> products) {
        Catalogue.Product last = products.getLast();
        return catalogue.all().stream()
                .filter(each -> each.category().equals(last.category()) && !products.contains(each))
                .sorted(Comparator.<Catalogue.Product>comparingInt(each -> Math.abs(each.cents() - last.cents())).thenComparingInt(Catalogue.Product::id))
                .limit(OTHERS).map(Pages::show).toList();
    }

    private Catalogue.Product find(long id) throws RefusedException {
        Catalogue.Product found = catalogue.find(id);
        if (found == null) {
            throw new RefusedException(404, "there is no product " + id);
        }
        return found;
    }

    private static Map<String, Object> show(Catalogue.Product product) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("id", product.id());
        map.put("name", product.name());
        map.put("category", product.category());
        map.put("price", money(product.cents()));
        map.put("text", product.text());
        map.put("tags", product.tags().stream().map(tag -> Map.of("tag", tag)).toList());
        return map;
    }

    private static long number(String name, String value) throws RefusedException {
        if (value == null || !value.matches("[0-9]{1,6}")) {
            throw new RefusedException(400, "'" + name + "' is '" + value + "': give a whole number of at most six digits");
        }
        return Long.parseLong(value);
    }

    private static String money(long cents) {
        return String.format(Locale.ROOT, "%d.%02d", cents / 100, cents % 100);
    }
}

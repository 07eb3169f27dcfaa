// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.tomcat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The products of the shop, made from a fixed seed: the same in every process. */
final class Catalogue {
    /** What products are named and described with; searches look for these words. */
    static final List<String> WORDS = List.of("amber", "birch", "canvas", "copper", "cotton", "desk", "fern", "flask", "folding", "glass",
            "green", "heavy", "hinge", "iron", "kettle", "lamp", "lantern", "large", "leather", "linen", "maple", "mirror", "narrow", "oak",
            "paper", "pine", "plain", "quiet", "rack", "round", "shelf", "short", "silver", "slate", "small", "soft", "steel", "stool",
            "table", "tall", "tin", "tray", "velvet", "walnut", "wide", "willow", "window", "wool");
    private static final List<String> CATEGORIES = List.of("bath & bed", "garden", "hall", "kitchen", "light", "office", "tools", "travel");

    private final List<Product> products = new ArrayList<>();

    /** A product; {@code cents} is its price. */
    record Product(int id, String name, String category, int cents, String text, List<String> tags) { }

    Catalogue(int size) {
        Random random = new Random(20250916);
        for (int id = 0; id < size; id++) {
            String name = words(random, 2 + random.nextInt(2));
            String category = CATEGORIES.get(random.nextInt(CATEGORIES.size()));
            int cents = 100 + random.nextInt(99_900);
            String text = words(random, 12 + random.nextInt(12)) + " <" + id + ">";
            List<String> tags = List.of(words(random, 2 + random.nextInt(4)).split(" "));
            products.add(new Product(id, name, category, cents, text, tags));
        }
    }

    private static String words(Random random, int count) {
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < count; i++) {
            words.append(i == 0 ? "" : " ").append(WORDS.get(random.nextInt(WORDS.size())));
        }
        return words.toString();
    }

    int size() {
        return products.size();
    }

    /** Returns the product, or null if there is none of that number. */
    Product find(long id) {
        return id >= 0 && id < products.size() ? products.get((int) id) : null;
    }

    List<Product> all() {
        return products;
    }
}

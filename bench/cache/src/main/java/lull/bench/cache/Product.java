// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cache;

import java.util.ArrayList;
import java.util.List;

/**
 * What the cache keeps for a key: some fifteen small objects. All of it follows from key and version, so that the load knows what the
 * answer must be.
 */
record Product(int key, int version, String name, List<Attribute> attributes, byte[] thumbnail) {
    private static final String[] NAMES = {"colour", "weight", "origin", "maker"};

    record Attribute(String name, String value) { }

    /** Makes the product, as if from a database. */
    static Product of(int key, int version) {
        long mixed = mix(key, version);
        List<Attribute> attributes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            attributes.add(new Attribute(NAMES[(int) (mixed >>> (8 * i) & 3)], Long.toString(mixed >>> (5 * i) & 0xfffff, 36)));
        }
        byte[] thumbnail = new byte[24 + (int) (mixed >>> 40 & 31)];
        for (int i = 0; i < thumbnail.length; i++) {
            thumbnail[i] = (byte) (mixed >>> (i & 7));
        }
        return new Product(key, version, "product " + key + " of version " + version, List.copyOf(attributes), thumbnail);
    }

    /** The answer for this product. */
    String json() {
        StringBuilder text = new StringBuilder(160).append("{\"key\":").append(key).append(",\"version\":").append(version);
        text.append(",\"name\":\"").append(name).append("\",\"attributes\":{");
        String comma = "";
        for (Attribute attribute : attributes) {
            text.append(comma).append('"').append(attribute.name).append("\":\"").append(attribute.value).append('"');
            comma = ",";
        }
        int sum = 0;
        for (byte b : thumbnail) {
            sum = sum * 31 + b;
        }
        return text.append("},\"thumbnail\":").append(sum).append('}').toString();
    }

    private static long mix(int key, int version) {
        long mixed = (key * 0x9e3779b97f4a7c15L) ^ (version * 0xc2b2ae3d27d4eb4fL);
        mixed = (mixed ^ mixed >>> 32) * 0xd6e8feb86659fd93L;
        return mixed ^ mixed >>> 32;
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.programs;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;

/**
 * Compresses and expands buffers by LZW, like SPECjvm98's compress: few objects, most of the bytes in large arrays.
 * {@code Lzw [seed [rounds [kilobytes]]]}.
 *
 * <p>Checked: what is expanded is what was compressed.
 */
public final class Lzw {
    private static final int BITS = 14;
    private static final int TABLE = 1 << (BITS + 1);
    private static final int FIRST = 256;

    private Lzw() { }

    private static byte[] compress(byte[] text) {
        int[] keys = new int[TABLE];
        short[] codes = new short[TABLE];
        Arrays.fill(keys, -1);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int next = FIRST;
        int prefix = text[0] & 0xff;
        for (int i = 1; i < text.length; i++) {
            int key = prefix << 8 | text[i] & 0xff;
            int slot = (key * 0x9e3779b1 >>> (32 - BITS - 1));
            while (keys[slot] != -1 && keys[slot] != key) {
                slot = (slot + 1) % TABLE;
            }
            if (keys[slot] == key) {
                prefix = codes[slot] & 0xffff;
                continue;
            }
            put(out, prefix);
            if (next < 1 << BITS) {
                keys[slot] = key;
                codes[slot] = (short) next++;
            }
            prefix = text[i] & 0xff;
        }
        put(out, prefix);
        return out.toByteArray();
    }

    private static void put(ByteArrayOutputStream out, int code) {
        out.write(code >> 8);
        out.write(code);
    }

    private static byte[] expand(byte[] codes) {
        byte[][] strings = new byte[1 << BITS][];
        for (int i = 0; i < FIRST; i++) {
            strings[i] = new byte[] {(byte) i};
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int next = FIRST;
        byte[] before = null;
        for (int i = 0; i < codes.length; i += 2) {
            int code = (codes[i] & 0xff) << 8 | codes[i + 1] & 0xff;
            byte[] now = code < next ? strings[code] : append(before, before[0]);
            out.writeBytes(now);
            if (before != null && next < 1 << BITS) {
                strings[next++] = append(before, now[0]);
            }
            before = now;
        }
        return out.toByteArray();
    }

    private static byte[] append(byte[] string, byte b) {
        byte[] longer = Arrays.copyOf(string, string.length + 1);
        longer[string.length] = b;
        return longer;
    }

    /** Text of random words, so that there is something to find. */
    private static byte[] text(Random random, int length) {
        byte[][] words = new byte[500][];
        for (int i = 0; i < words.length; i++) {
            words[i] = new byte[2 + random.nextInt(9)];
            for (int j = 0; j < words[i].length; j++) {
                words[i][j] = (byte) ('a' + random.nextInt(26));
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while (out.size() < length) {
            out.writeBytes(words[(int) (words.length * random.nextDouble() * random.nextDouble())]);
            out.write(' ');
        }
        return Arrays.copyOf(out.toByteArray(), length);
    }

    public static void main(String[] args) {
        int seed = Outcome.argument(args, 0, 1, 0, Integer.MAX_VALUE);
        int rounds = Outcome.argument(args, 1, 12, 1, 1_000_000);
        int kilobytes = Outcome.argument(args, 2, 160, 1, 1_000_000);
        Random random = new Random(seed);
        long from = 0;
        long to = 0;
        for (int round = 0; round < rounds; round++) {
            byte[] text = text(random, kilobytes * 1024 * (1 + round % 3) / 2);
            byte[] small = compress(text);
            Outcome.check(Arrays.equals(text, expand(small)), "round " + round + " is not what it was");
            from += text.length;
            to += small.length;
        }
        System.out.printf("compress: %d bytes to %d%n", from, to);
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.util.BytesRef;

/**
 * Documents that follow from their numbers: a text of {@link #TERMS} made-up words, some of them frequent, and {@link #PAYLOAD} bytes that
 * no compression makes smaller.
 */
final class Documents {
    static final int TERMS = 60;
    static final int PAYLOAD = 2048;
    private static final int VOCABULARY = 50_000;

    private Documents() { }

    static Document document(int number) {
        Random random = new Random(number);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < TERMS; i++) {
            text.append(term(random)).append(' ');
        }
        byte[] payload = new byte[PAYLOAD];
        random.nextBytes(payload);
        ByteBuffer.wrap(payload).putInt(number);
        Document document = new Document();
        document.add(new TextField("text", text.toString(), Field.Store.NO));
        document.add(new StoredField("payload", payload));
        return document;
    }

    /** Returns a word of the vocabulary: the product of two uniform numbers makes the first ones frequent. */
    static String term(Random random) {
        return word(random.nextDouble() * random.nextDouble());
    }

    /** Returns any word of the vocabulary, seldom a frequent one. */
    static String anyTerm(Random random) {
        return word(random.nextDouble());
    }

    private static String word(double share) {
        return "w" + Integer.toString((int) (share * VOCABULARY), 36);
    }

    /** Returns the number of the document that has been read; fails if its payload is not the one that was written. */
    static int check(BytesRef payload) {
        if (payload.length != PAYLOAD) {
            throw new IllegalStateException("a payload of " + payload.length + " bytes was read, " + PAYLOAD + " were written");
        }
        int number = ByteBuffer.wrap(payload.bytes, payload.offset, payload.length).getInt();
        Random random = new Random(number);
        for (int i = 0; i < TERMS; i++) {
            term(random);
        }
        byte[] expected = new byte[8];
        random.nextBytes(expected);
        for (int i = 4; i < 8; i++) {
            if (payload.bytes[payload.offset + i] != expected[i]) {
                throw new IllegalStateException("byte " + i + " of the payload of document " + number + " is wrong");
            }
        }
        return number;
    }

    static Analyzer analyzer() {
        return new StandardAnalyzer();
    }
}

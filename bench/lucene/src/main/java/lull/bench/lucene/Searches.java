// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import lull.bench.util.Json;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;

/** Answers queries from an index. Safe for use by many threads. */
final class Searches implements AutoCloseable {
    private static final int BEST = 10;
    private static final Pattern NO_WORD = Pattern.compile("[^A-Za-z]+");

    private final Directory directory;
    private final DirectoryReader reader;
    private final IndexSearcher searcher;
    private final Analyzer analyzer = new EnglishAnalyzer();

    /** Takes {@code directory} and closes it in the end. */
    Searches(Directory directory) throws IOException {
        this.directory = directory;
        this.reader = DirectoryReader.open(directory);
        this.searcher = new IndexSearcher(reader);
        // Else the number of hits found before the search may stop could depend on what was asked before.
        searcher.setQueryCache(null);
    }

    /** Returns the best pieces with their scores, and of each the first line that has a word of the query, as JSON. */
    String answer(String query) throws IOException, ParseException {
        // A parser is for one thread and one use.
        QueryParser parser = new QueryParser("text", analyzer);
        TopDocs top = searcher.search(parser.parse(query), BEST);
        List<String> words = words(query);
        List<Object> hits = new ArrayList<>();
        StoredFields stored = searcher.storedFields();
        for (ScoreDoc hit : top.scoreDocs) {
            Document document = stored.document(hit.doc);
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("name", document.get("name"));
            // As text: every bit counts.
            map.put("score", Float.toString(hit.score));
            map.put("line", line(document.get("text"), words));
            hits.add(map);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("query", query);
        answer.put("hits", top.totalHits.toString());
        answer.put("best", hits);
        return Json.write(answer);
    }

    private static String line(String text, List<String> words) {
        for (String line : text.split("\n")) {
            String lower = line.toLowerCase(Locale.ROOT);
            for (String word : words) {
                if (lower.contains(word)) {
                    return line.trim();
                }
            }
        }
        return "";
    }

    private static List<String> words(String text) {
        return NO_WORD.splitAsStream(text.toLowerCase(Locale.ROOT)).filter(word -> word.length() > 3).toList();
    }

    /** Returns {@code count} different queries, always the same for the same index: words, some that must be there, phrases, prefixes. */
    List<String> queries(int count) throws IOException {
        Random random = new Random(count);
        List<String> queries = new ArrayList<>();
        // A small corpus may not have enough.
        for (int tries = 0; queries.size() < count && tries < 4 * count; tries++) {
            List<String> here = words(random);
            List<String> there = words(random);
            if (here.size() < 2 || there.isEmpty()) {
                continue;
            }
            int at = random.nextInt(here.size() - 1);
            String first = here.get(at);
            String second = here.get(at + 1);
            String third = there.get(random.nextInt(there.size()));
            String query = switch (queries.size() % 6) {
                case 0 -> first;
                case 1 -> first + " " + third;
                case 2 -> first + " " + second + " " + third;
                case 3 -> "+" + first + " +" + second + " " + third;
                case 4 -> "\"" + first + " " + second + "\"";
                default -> first.substring(0, 4) + "* " + third;
            };
            if (!queries.contains(query)) {
                queries.add(query);
            }
        }
        return queries;
    }

    private List<String> words(Random random) throws IOException {
        return words(searcher.storedFields().document(random.nextInt(reader.maxDoc())).get("text"));
    }

    @Override
    public void close() throws IOException {
        try (directory) {
            reader.close();
        }
    }
}

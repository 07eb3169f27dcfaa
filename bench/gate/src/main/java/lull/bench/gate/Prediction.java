// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lull.bench.util.Stats;

/**
 * One pause as the agent has told of it (option {@code verbose}); milliseconds.
 *
 * @param kind the collector's own name for what it did
 * @param predicted before the pause had begun to be long
 * @param most the prediction's upper bound
 * @param halfway the prediction of the whole pause when half of it was over
 */
record Prediction(String kind, double actual, double predicted, double most, double halfway) {
    private static final Pattern LINE =
            Pattern.compile("lull gate: pause of ([0-9.]+) ms, predicted ([0-9.]+), at most ([0-9.]+), halfway ([0-9.]+), kind ([^;]+);.*");
    /** Of each kind, these first ones teach the model. */
    static final int LEARNING = 5;

    /** Returns the collections among the lines of a replica, by kind, without the first of each. */
    static Map<String, List<Prediction>> read(List<String> lines) {
        Map<String, List<Prediction>> all = new TreeMap<>();
        for (String line : lines) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches() && !matcher.group(5).equals("no collection")) {
                all.computeIfAbsent(matcher.group(5), kind -> new ArrayList<>()).add(new Prediction(matcher.group(5),
                        Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2)), Double.parseDouble(matcher.group(3)),
                        Double.parseDouble(matcher.group(4))));
            }
        }
        Map<String, List<Prediction>> learnt = new TreeMap<>();
        all.forEach((kind, list) -> {
            if (list.size() > LEARNING) {
                learnt.put(kind, list.subList(LEARNING, list.size()));
            }
        });
        return learnt;
    }

    double error() {
        return Math.abs(predicted - actual);
    }

    double errorHalfway() {
        return Math.abs(halfway - actual);
    }

    /** What is told of one kind: how far off the predictions were, at the begin and halfway, and how many pauses outlasted their bound. */
    record Summary(int pauses, double median, double medianError, double p95Error, double within2, double within4, double medianRelative, double over,
            double medianErrorHalfway, double within2Halfway) {
        static Summary of(List<Prediction> list) {
            List<Double> errors = list.stream().map(Prediction::error).toList();
            return new Summary(list.size(), Stats.median(list.stream().map(Prediction::actual).toList()), Stats.median(errors),
                    Stats.quantile(errors, 0.95), share(list, p -> p.error() <= 2), share(list, p -> p.error() <= 4),
                    Stats.median(list.stream().map(p -> p.error() / p.actual).toList()), share(list, p -> p.actual > p.most),
                    Stats.median(list.stream().map(Prediction::errorHalfway).toList()), share(list, p -> p.errorHalfway() <= 2));
        }

        private static double share(List<Prediction> list, java.util.function.Predicate<Prediction> of) {
            return 100.0 * list.stream().filter(of).count() / list.size();
        }
    }
}

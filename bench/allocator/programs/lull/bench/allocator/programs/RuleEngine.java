// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.programs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A forward-chaining rule engine like SPECjvm98's jess: facts, rules with variables, matches as chains of bindings, an agenda. It finds out who is
 * related to whom in random families. {@code RuleEngine [seed [families [people]]]}.
 *
 * <p>Checked: the numbers of ancestors, siblings and cousins, counted without rules.
 */
public final class RuleEngine {
    record Fact(String relation, Integer left, Integer right) { }

    /** A condition or a conclusion; its terms are names of variables. */
    record Pattern(String relation, String left, String right) { }

    /** With {@code differ}, the two variables must not be the same. */
    record Rule(List<Pattern> when, String differLeft, String differRight, Pattern then) { }

    /** A chain of what variables stand for. */
    record Binding(String variable, Integer value, Binding outer) {
        static Integer valueOf(Binding binding, String variable) {
            for (Binding b = binding; b != null; b = b.outer) {
                if (b.variable.equals(variable)) {
                    return b.value;
                }
            }
            return null;
        }
    }

    /** A rule whose conditions hold. */
    record Activation(Rule rule, Binding binding) { }

    private static final List<Rule> RULES = List.of(
            new Rule(List.of(new Pattern("parent", "x", "y")), null, null, new Pattern("ancestor", "x", "y")),
            new Rule(List.of(new Pattern("ancestor", "x", "y"), new Pattern("parent", "y", "z")), null, null, new Pattern("ancestor", "x", "z")),
            new Rule(List.of(new Pattern("parent", "p", "x"), new Pattern("parent", "p", "y")), "x", "y", new Pattern("sibling", "x", "y")),
            new Rule(List.of(new Pattern("sibling", "a", "b"), new Pattern("parent", "a", "x"), new Pattern("parent", "b", "y")), null, null,
                    new Pattern("cousin", "x", "y")));

    private final Set<Fact> facts = new HashSet<>();
    private final Map<String, Map<Integer, List<Fact>>> byLeft = new HashMap<>();
    private final Map<String, Map<Integer, List<Fact>>> byRight = new HashMap<>();
    private final ArrayDeque<Activation> agenda = new ArrayDeque<>();

    private void add(Fact fact) {
        if (!facts.add(fact)) {
            return;
        }
        byLeft.computeIfAbsent(fact.relation, r -> new HashMap<>()).computeIfAbsent(fact.left, l -> new ArrayList<>()).add(fact);
        byRight.computeIfAbsent(fact.relation, r -> new HashMap<>()).computeIfAbsent(fact.right, l -> new ArrayList<>()).add(fact);
        for (Rule rule : RULES) {
            for (int i = 0; i < rule.when.size(); i++) {
                Binding binding = match(rule.when.get(i), fact, null);
                if (binding != null) {
                    join(rule, 0, i, binding);
                }
            }
        }
    }

    /** Returns {@code binding} with what {@code fact} adds, null if it contradicts. */
    private static Binding match(Pattern pattern, Fact fact, Binding binding) {
        if (!pattern.relation.equals(fact.relation)) {
            return null;
        }
        Binding left = bind(pattern.left, fact.left, binding);
        return left == null ? null : bind(pattern.right, fact.right, left);
    }

    private static Binding bind(String variable, Integer value, Binding binding) {
        Integer now = Binding.valueOf(binding, variable);
        if (now == null) {
            return new Binding(variable, value, binding);
        }
        return now.equals(value) ? binding : null;
    }

    /** Satisfies the conditions from number {@code i} on, but number {@code done}, by facts that are known. */
    private void join(Rule rule, int i, int done, Binding binding) {
        if (i == rule.when.size()) {
            if (rule.differLeft == null || !Binding.valueOf(binding, rule.differLeft).equals(Binding.valueOf(binding, rule.differRight))) {
                agenda.add(new Activation(rule, binding));
            }
            return;
        }
        if (i == done) {
            join(rule, i + 1, done, binding);
            return;
        }
        Pattern pattern = rule.when.get(i);
        Integer left = Binding.valueOf(binding, pattern.left);
        Integer right = Binding.valueOf(binding, pattern.right);
        Map<Integer, List<Fact>> index = (left != null ? byLeft : byRight).getOrDefault(pattern.relation, Map.of());
        // One of the two is bound: conditions that follow each other share a variable.
        for (Fact fact : new ArrayList<>(index.getOrDefault(left != null ? left : right, List.of()))) {
            Binding more = match(pattern, fact, binding);
            if (more != null) {
                join(rule, i + 1, done, more);
            }
        }
    }

    private void run() {
        while (!agenda.isEmpty()) {
            Activation next = agenda.poll();
            Pattern then = next.rule.then;
            add(new Fact(then.relation, Binding.valueOf(next.binding, then.left), Binding.valueOf(next.binding, then.right)));
        }
    }

    private long count(String relation) {
        return facts.stream().filter(fact -> fact.relation.equals(relation)).count();
    }

    /** A family: person i has a parent among those before, at {@code parents[i]}; person 0 has none. */
    private static int[] family(Random random, int people) {
        int[] parents = new int[people];
        for (int i = 1; i < people; i++) {
            parents[i] = random.nextInt(Math.max(1, i / 3), Math.max(2, i));
            if (parents[i] >= i) {
                parents[i] = 0;
            }
        }
        return parents;
    }

    private static void verify(RuleEngine engine, int[] parents) {
        long ancestors = 0;
        long siblings = 0;
        Set<Long> cousins = new HashSet<>();
        for (int i = 1; i < parents.length; i++) {
            for (int p = i; p != 0; p = parents[p]) {
                ancestors++;
            }
            for (int j = 1; j < parents.length; j++) {
                if (i != j && parents[i] == parents[j]) {
                    siblings++;
                }
                boolean haveGrandparents = parents[i] != 0 && parents[j] != 0;
                if (haveGrandparents && parents[i] != parents[j] && parents[parents[i]] == parents[parents[j]]) {
                    cousins.add((long) i << 32 | j);
                }
            }
        }
        Outcome.check(engine.count("ancestor") == ancestors, engine.count("ancestor") + " ancestors, counted " + ancestors);
        Outcome.check(engine.count("sibling") == siblings, engine.count("sibling") + " siblings, counted " + siblings);
        Outcome.check(engine.count("cousin") == cousins.size(), engine.count("cousin") + " cousins, counted " + cousins.size());
    }

    public static void main(String[] args) {
        int seed = Outcome.argument(args, 0, 1, 0, Integer.MAX_VALUE);
        int families = Outcome.argument(args, 1, 6, 1, 1_000_000);
        int people = Outcome.argument(args, 2, 500, 2, 100_000);
        Random random = new Random(seed);
        long facts = 0;
        for (int i = 0; i < families; i++) {
            int[] parents = family(random, people);
            RuleEngine engine = new RuleEngine();
            for (int child = 1; child < people; child++) {
                engine.add(new Fact("parent", parents[child], child));
            }
            engine.run();
            verify(engine, parents);
            facts += engine.facts.size();
        }
        System.out.printf("jess: %d families, %d facts%n", families, facts);
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a page shows as code is there: targets of make, flags of the VM, scripts and other files, options of our programs,
 * settings, commands of jcmd, events, and names that are ours.
 */
final class Commands {
    /** Our programs, and where their options are read. */
    private static final Map<String, List<String>> PROGRAMS = Map.of(
            "lull-memd", List.of("native/far/memd/src"),
            "lull-far", List.of("native/far/front/src"),
            "lull-far-trace", List.of("native/far/heap/src"),
            "lull-far-bench", List.of("native/far/bench/src"),
            "lull-stall", List.of("native/stall/src"),
            "lull-budget", List.of("native/budget/src"),
            "lull", List.of("java/report/src/main"));
    private static final List<String> AGENT = List.of("native/gate/src/options.rs");

    /** What was measured with a flag that there is no more still shows it. */
    private static final Path MEASUREMENTS = Path.of("docs/measurements");

    private static final Pattern MAKE = Pattern.compile("(?:^|[;&|] *|[A-Z_]+=\\S+ )make((?: +[A-Z_]+=\\S+| +[a-z][a-z-]*)+)");
    private static final Pattern FLAG = Pattern.compile("-XX:([+-]?)([A-Za-z]\\w*)(=?)");
    private static final Pattern PATH = Pattern.compile("(?:\\.ci|bench|book|docs|findings|hotspot|java|native|packaging)(?:/[\\w.*-]+)+/?");
    private static final Pattern FILE = Pattern.compile("[\\w./*-]*\\w\\.(?:sh|rs|hpp|cpp|ad|patch|toml|jfc|service|java)");
    private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]*");
    private static final Pattern AGENT_OPTIONS = Pattern.compile("liblull_gate\\.so=(\\S+)");
    private static final Pattern JCMD = Pattern.compile("\\bjcmd +(?:\\S+ +)?([A-Z][A-Za-z]*\\.\\w+)");
    private static final Pattern EVENT = Pattern.compile("\\bjdk\\.([A-Z]\\w+)");
    private static final Pattern SETTING = Pattern.compile("\\b(?:LULL|BENCH|PAIRS|GATE|BUDGET|WHERE|BARRIER|DOCTOR|SOAK|STUDY|MARK|STRESS|MINHEAP)_[A-Z0-9_]+\\b");
    private static final Pattern NAME = Pattern.compile("\\b(?:[Ll]ull[A-Z]\\w*|Test[A-Z]\\w*|\\w+Test)\\b");

    private final Sources sources;
    private final Upstream upstream;
    private final Problems problems;

    Commands(Sources sources, Upstream upstream, Problems problems) {
        this.sources = sources;
        this.upstream = upstream;
        this.problems = problems;
    }

    void check(Page page) throws IOException {
        for (Page.Code code : page.code) {
            String text = code.block() ? code.text().replaceFirst("(?:^|\\s)#.*", "") : code.text();
            targets(page, code, text);
            flags(page, code, text);
            files(page, code, text);
            options(page, code, text);
            names(page, code, text);
        }
    }

    private void targets(Page page, Page.Code code, String text) {
        Matcher make = MAKE.matcher(text);
        while (make.find()) {
            for (String word : make.group(1).strip().split(" +")) {
                if (!word.contains("=") && !sources.targets.contains(word)) {
                    problems.add(page, code.line(), "make", "there is no target " + word);
                }
            }
        }
    }

    private void flags(Page page, Page.Code code, String text) {
        Matcher flag = FLAG.matcher(text);
        while (flag.find()) {
            String name = flag.group(2);
            String type = sources.flags.get(name);
            boolean known = type != null || upstream.has("flag", name) || upstream.has("switch", name);
            boolean isSwitch = "bool".equals(type) || upstream.has("switch", name);
            if (!known && page.path.startsWith(MEASUREMENTS) && sources.removedFlags.contains(name)) {
                continue;
            }
            if (!known) {
                problems.add(page, code.line(), "flag", "there is no flag " + name);
            } else if (!flag.group(1).isEmpty() && !isSwitch) {
                problems.add(page, code.line(), "flag", name + " takes a value: -XX:" + name + "=...");
            } else if (!flag.group(3).isEmpty() && isSwitch) {
                problems.add(page, code.line(), "flag", name + " is on or off: -XX:+" + name);
            }
        }
    }

    private void files(Page page, Page.Code code, String text) {
        for (String word : text.split("[\\s'\"`=()<>,;:|]+")) {
            String path = word.replaceAll("^\\./|[.]+$", "");
            if (PATH.matcher(path).matches()) {
                if (!sources.hasPath(path)) {
                    problems.add(page, code.line(), "path", "there is no " + path);
                }
            } else if (FILE.matcher(path).matches() && !path.startsWith("/") && !path.contains("build/")
                    && !sources.hasEnd(path) && !upstream.has("name", path)) {
                problems.add(page, code.line(), "path", "there is no file " + path);
            }
        }
    }

    private void options(Page page, Page.Code code, String text) throws IOException {
        Matcher agent = AGENT_OPTIONS.matcher(text);
        while (agent.find()) {
            for (String option : agent.group(1).split(",")) {
                String key = option.replaceAll("=.*", "");
                if (!key.equals("...") && !sources.mention(AGENT, Pattern.compile("\"" + key + "\""))) {
                    problems.add(page, code.line(), "option", "the gate has no option " + key);
                }
            }
        }
        List<String> program = code.text().startsWith("--") ? programOf(code.program()) : null;
        for (String word : text.split("\\s+")) {
            List<String> named = text.contains("cargo ") ? null : programOf(word);
            if (named != null) {
                program = named;
            } else if (word.matches("--|[|;&]+|.*;")) {
                program = null;
            } else if (word.startsWith("--")) {
                option(page, code, word.replaceAll("=.*", ""), program);
            }
        }
    }

    /** Where the options of a program are read, or null if it is none of ours. */
    private List<String> programOf(String word) {
        String path = word.replaceAll("^\\./| .*", "");
        if (path.endsWith(".sh")) {
            List<String> places = new ArrayList<>();
            sources.files().stream().filter(f -> f.endsWith(path)).forEach(f -> places.add(f.toString()));
            return places.isEmpty() ? null : places;
        }
        return PROGRAMS.get(path.substring(path.lastIndexOf('/') + 1));
    }

    private void option(Page page, Page.Code code, String word, List<String> program) throws IOException {
        Matcher option = OPTION.matcher(word);
        if (!option.matches() || upstream.has("option", word)) {
            return;
        }
        if (word.equals("--help")) {
            return;
        }
        if (program != null) {
            if (!takes(program, word)) {
                problems.add(page, code.line(), "option", program.getFirst() + " has no option " + word);
            }
        } else if (code.text().startsWith("--")
                && !takes(List.of("bench", "hotspot", "native", "java"), word)) {
            problems.add(page, code.line(), "option", "no program of ours has an option " + word);
        }
    }

    /** Whether an option is read there: it is spelt out, or a field of arguments has its name, as clap makes it. */
    private boolean takes(List<String> places, String option) throws IOException {
        String field = option.substring(2).replace('-', '_');
        return sources.mention(places, Pattern.compile(Pattern.quote(option) + "(?![\\w-])"
                + "|#\\[arg\\([^\\]]*\\blong\\b[^\\]]*\\)\\]\\s*(?:pub )?" + field + ":"));
    }

    private void names(Page page, Page.Code code, String text) {
        each(JCMD, text, name -> {
            if (!sources.commands.contains(name) && !upstream.has("command", name) && !upstream.has("name", name)) {
                problems.add(page, code.line(), "jcmd", "there is no command " + name);
            }
        });
        each(EVENT, text, name -> {
            if (!sources.events.contains(name) && !upstream.has("event", name)) {
                problems.add(page, code.line(), "event", "there is no event jdk." + name);
            }
        });
        for (Pattern ours : Arrays.asList(SETTING, NAME)) {
            each(ours, text, name -> {
                if (!sources.hasWord(name) && !upstream.has("name", name)) {
                    problems.add(page, code.line(), "name", "nothing is called " + name);
                }
            });
        }
    }

    private static void each(Pattern pattern, String text, java.util.function.Consumer<String> action) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            action.accept(matcher.groupCount() > 0 ? matcher.group(1) : matcher.group());
        }
    }
}

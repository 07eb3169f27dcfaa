/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 *
 */

package gc.lull;

import java.util.ArrayList;
import java.util.List;

import jdk.test.lib.process.OutputAnalyzer;
import jdk.test.lib.process.ProcessTools;

/** A program that is run with flags of the VM, for tests of which of them it is told to refuse. */
public final class ProgramWithFlags {
    private final Class<?> program;
    private final String says;
    private final List<String> options;

    /** The program prints what it says, and nobody else does; it always has these options. */
    public ProgramWithFlags(Class<?> program, String says, String... options) {
        this.program = program;
        this.says = says;
        this.options = List.of(options);
    }

    public OutputAnalyzer run(String... flags) throws Exception {
        List<String> command = new ArrayList<>(options);
        command.addAll(List.of(flags));
        command.add(program.getName());
        System.out.println(command);
        return ProcessTools.executeLimitedTestJava(command);
    }

    /** The program runs with the flags. */
    public OutputAnalyzer accepted(String... flags) throws Exception {
        OutputAnalyzer output = run(flags);
        output.shouldHaveExitValue(0);
        output.shouldContain(says);
        return output;
    }

    /** The VM ends before the program begins, with this sentence and without an error report. */
    public void refused(String sentence, String... flags) throws Exception {
        OutputAnalyzer output = run(flags);
        output.shouldHaveExitValue(1);
        output.shouldContain(sentence);
        output.shouldNotContain(says);
        output.shouldNotContain("A fatal error");
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

/** Why there is no page: mostly something that the user gave. The message says what, and what to do; the status is that of the program's exit. */
final class InputException extends Exception {
    private static final long serialVersionUID = 1;

    /** The command line is wrong. */
    static final int USAGE = 2;
    /** A file is missing, cannot be read, or is not what it should be, or no page can be made of it. */
    static final int UNREADABLE = 3;
    /** A recording has too little in it for a page. */
    static final int TOO_LITTLE = 4;
    /** The service could not be run, or left no recording. */
    static final int SERVICE = 5;

    final int status;

    InputException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** What nobody has foreseen, so that it ends like all else: in words and by a status. */
    static InputException unforeseen(Throwable e) {
        if (e instanceof OutOfMemoryError) {
            return new InputException(UNREADABLE, "the files are too large for the doctor's memory, " + (Runtime.getRuntime().maxMemory() >> 20)
                    + " MB: give it more, as by JDK_JAVA_OPTIONS=-Xmx4g lull doctor --recording FILE ...");
        }
        StackTraceElement[] stack = e.getStackTrace();
        return new InputException(UNREADABLE, "no page can be made, by a mistake of the doctor itself: " + e + (stack.length > 0 ? " at " + stack[0] : ""));
    }
}

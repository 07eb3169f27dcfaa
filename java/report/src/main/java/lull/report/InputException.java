// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.report;

/** Something that the user gave cannot be used. The message says what, and what to do; the status is that of the program's exit. */
final class InputException extends Exception {
    private static final long serialVersionUID = 1;

    /** The command line is wrong. */
    static final int USAGE = 2;
    /** A file is missing, cannot be read, or is not what it should be. */
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
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

/** What a client does about a replica that does not answer. */
enum Strategy {
    /** Waits. */
    WAIT,
    /** Sends the request to a second replica after a time, and takes the answer that comes first. */
    HEDGE,
    /** Says a deadline, and goes to the next replica when told that it is busy; the last one it gives all the time. */
    FAIL_OVER,
    /** The same, and does not ask a replica again before the time that it has told. */
    FAIL_OVER_WITH_HINT,
    /** Is told by datagrams which replica is stopped, asks another one, and leaves one that stops for longer than the deadline. The gate answers nobody, as with TLS. */
    TOLD
}

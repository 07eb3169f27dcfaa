// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.result;

/**
 * What an invocation measures: all that is the same in repetitions of it. Only invocations of equal setups may be averaged.
 *
 * @param options of the service, as given
 * @param jdk runtime version of the Java
 * @param libjvm SHA-256 of its libjvm: builds of one version are different setups
 * @param flags of the server's JVM, those that choose the collector included
 * @param heap in megabytes
 * @param factor the heap as a multiple of the service's smallest for G1
 * @param work the fixed work, in words: threads, numbers of requests, and the identity of the service; costs may be compared where it is the same
 * @param open the open loop, in words; empty if there is none
 */
public record Setup(String service, String options, String collector, String jdk, String libjvm, String flags, int heap, double factor, String work,
        String open, String machine) {
    /** What differs between two setups of the same point that are compared with each other: builds or flags. */
    public record Variant(String jdk, String libjvm, String flags) {
        /** Returns the variant for people, with the first digits of the build's identity. */
        public String text() {
            return jdk + " (libjvm " + libjvm.substring(0, Math.min(12, libjvm.length())) + ") " + flags;
        }
    }

    public Variant variant() {
        return new Variant(jdk, libjvm, flags);
    }

    /** Returns the setup with another variant. */
    public Setup with(Variant other) {
        return new Setup(service, options, collector, other.jdk, other.libjvm, other.flags, heap, factor, work, open, machine);
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.ManagementFactory;

/** Prints the names of the beans of the collector that it runs on. */
public class WhoCollects {
    public static void main(String[] args) {
        System.out.println(ManagementFactory.getGarbageCollectorMXBeans().stream().map(b -> b.getName()).toList());
    }
}

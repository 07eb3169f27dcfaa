// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import lull.bench.util.Cli.UsageException;

/** Finds the services on the class path by name. */
public final class Services {
    private Services() { }

    /** Returns the service {@code name}; a usage error names those that are there. */
    public static Service find(String name) {
        List<String> names = new ArrayList<>();
        for (Service service : ServiceLoader.load(Service.class)) {
            if (service.name().equals(name)) {
                return service;
            }
            names.add(service.name());
        }
        throw new UsageException("no service '" + name + "' on the class path: there is " + names);
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import lull.bench.service.Options;
import lull.bench.service.Service;

/**
 * Address books behind a REST API: Spring Boot, Spring Data JPA and an H2 database in memory. Every connection makes a book of its
 * own, so that it knows what each answer must be although others work at the same time; all read the same table of cities.
 * Option of {@link #prepare}: {@code cities}, the rows of that table.
 */
public final class CrudService implements Service {
    @Override
    public String name() {
        return "crud";
    }

    @Override
    public String describe() {
        return "Spring Boot with JPA on an H2 database in memory; a request gets, lists, creates, updates or deletes a contact, or reads cities";
    }

    @Override
    public void prepare(Path data, Map<String, String> options) throws IOException {
        int cities = new Options(options, Set.of("cities")).number("cities", 5000, 1, 1_000_000);
        if (!Cities.isThere(data, cities)) {
            Cities.write(data, cities);
            System.out.println("prepared " + cities + " cities in " + data);
        }
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        return CrudServer.start(Cities.read(data), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new CrudCaller(Cities.read(data), seed);
    }
}

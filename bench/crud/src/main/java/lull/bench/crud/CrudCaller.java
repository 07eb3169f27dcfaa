// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lull.bench.load.Order;
import lull.bench.service.Service;

/** The load's side of the crud service: the mix of requests, and the cities that answers are checked against. */
final class CrudCaller implements Service.Caller {
    /** The kinds of requests. */
    enum Kind { GET, LIST, CREATE, UPDATE, DELETE, GET_DELETED, CITY, CITIES }

    /** Of every 100 requests. */
    private static final Map<Kind, Integer> MIX = new TreeMap<>(Map.of(Kind.GET, 35, Kind.LIST, 15, Kind.CREATE, 10, Kind.UPDATE, 15,
            Kind.DELETE, 10, Kind.GET_DELETED, 2, Kind.CITY, 5, Kind.CITIES, 8));

    private final List<Cities.Row> cities;
    private final Map<String, List<Cities.Row>> byCountry;
    private final List<Kind> kinds;
    private final Order order;

    CrudCaller(List<Cities.Row> cities, long seed) {
        this.cities = cities;
        this.byCountry = cities.stream().sorted(Comparator.comparing(Cities.Row::name).thenComparing(Cities.Row::id))
                .collect(Collectors.groupingBy(Cities.Row::country));
        this.kinds = MIX.entrySet().stream().flatMap(e -> Collections.nCopies(e.getValue(), e.getKey()).stream()).toList();
        this.order = new Order(kinds.size(), seed);
    }

    @Override
    public int variety() {
        return kinds.size();
    }

    Kind kind(long number) {
        return kinds.get(order.input(number));
    }

    List<Cities.Row> cities() {
        return cities;
    }

    /** Returns the cities of a country, by name and number. */
    List<Cities.Row> cities(String country) {
        return byCountry.get(country);
    }

    @Override
    public Service.Connection connect(int port) {
        return new CrudConnection(this, port);
    }
}

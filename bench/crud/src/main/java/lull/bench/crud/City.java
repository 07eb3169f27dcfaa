// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.Table;

/** A row of the seeded table, which requests only read. */
@Entity
@Table(name = "city", indexes = @Index(columnList = "country, name"))
class City {
    @Id
    private Integer id;
    private String name;
    private String country;

    protected City() { }

    Integer id() {
        return id;
    }

    String name() {
        return name;
    }

    String country() {
        return country;
    }
}

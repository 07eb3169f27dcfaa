// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import jakarta.persistence.Version;

/** A contact in a book. */
@Entity
@Table(name = "contact", indexes = @Index(columnList = "book_id, name"))
class Contact {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private Long id;
    @Version
    private int version;
    @ManyToOne(fetch = FetchType.LAZY, optional = false)
    private Book book;
    @ManyToOne(fetch = FetchType.LAZY, optional = false)
    private City city;
    private String name;
    private String email;
    private String note;

    protected Contact() { }

    Contact(Book book) {
        this.book = book;
    }

    void set(String newName, String newEmail, String newNote, City newCity) {
        name = newName;
        email = newEmail;
        note = newNote;
        city = newCity;
    }

    Long id() {
        return id;
    }

    int version() {
        return version;
    }

    City city() {
        return city;
    }

    String name() {
        return name;
    }

    String email() {
        return email;
    }

    String note() {
        return note;
    }
}

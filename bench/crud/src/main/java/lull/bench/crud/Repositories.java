// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.util.Optional;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.EntityGraph;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.query.Param;

/** The tables as Spring Data sees them. */
final class Repositories {
    private Repositories() { }

    interface Cities extends JpaRepository<City, Integer> {
        Page<City> findByCountry(String country, Pageable page);
    }

    interface Books extends JpaRepository<Book, Long> { }

    interface Contacts extends JpaRepository<Contact, Long> {
        @EntityGraph(attributePaths = "city")
        Page<Contact> findByBookId(Long book, Pageable page);

        @EntityGraph(attributePaths = "city")
        Optional<Contact> findByIdAndBookId(Long id, Long book);

        @Modifying
        @Query("delete from Contact c where c.book.id = :book")
        int deleteBook(@Param("book") Long book);
    }
}

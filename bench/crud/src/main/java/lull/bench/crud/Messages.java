// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.util.List;
import org.springframework.data.domain.Page;

/** What clients send and get, as JSON. */
public final class Messages {
    private Messages() { }

    /** A contact as a client gives it; {@code version} is of the contact that it changes. */
    public record NewContact(int version, String name, String email, String note, int city) { }

    /** A book as a client gives it, with its first contacts. */
    public record NewBook(String name, List<NewContact> contacts) { }

    /** A city. */
    public record CityView(int id, String name, String country) {
        static CityView of(City city) {
            return new CityView(city.id(), city.name(), city.country());
        }
    }

    /** A contact. */
    public record ContactView(long id, int version, String name, String email, String note, CityView city) {
        static ContactView of(Contact contact) {
            return new ContactView(contact.id(), contact.version(), contact.name(), contact.email(), contact.note(), CityView.of(contact.city()));
        }
    }

    /** A book and all of its contacts. */
    public record BookView(long id, String name, List<ContactView> contacts) { }

    /** A page of a list: its number from 0, and the length of the whole list. */
    public record PageView<T>(int page, long total, List<T> entries) {
        static <T> PageView<T> of(Page<T> page) {
            return new PageView<>(page.getNumber(), page.getTotalElements(), page.getContent());
        }
    }
}

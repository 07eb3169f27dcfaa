// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.crud;

import java.util.ArrayList;
import java.util.List;
import lull.bench.crud.Messages.BookView;
import lull.bench.crud.Messages.CityView;
import lull.bench.crud.Messages.ContactView;
import lull.bench.crud.Messages.NewBook;
import lull.bench.crud.Messages.NewContact;
import lull.bench.crud.Messages.PageView;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;
import org.springframework.http.HttpStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The REST API. Each request is one transaction, which is committed before its answer is sent. */
@RestController
@Transactional
public class CrudController {
    /** Entries on a page of a list. */
    static final int PER_PAGE = 20;

    private final Repositories.Cities cities;
    private final Repositories.Books books;
    private final Repositories.Contacts contacts;

    CrudController(Repositories.Cities cities, Repositories.Books books, Repositories.Contacts contacts) {
        this.cities = cities;
        this.books = books;
        this.contacts = contacts;
    }

    @GetMapping("/cities/{id}")
    @Transactional(readOnly = true)
    public CityView city(@PathVariable("id") int id) {
        return CityView.of(findCity(id, HttpStatus.NOT_FOUND));
    }

    @GetMapping("/cities")
    @Transactional(readOnly = true)
    public PageView<CityView> cities(@RequestParam("country") String country, @RequestParam("page") int page) {
        return PageView.of(cities.findByCountry(country, page(page)).map(CityView::of));
    }

    @PostMapping("/books")
    @ResponseStatus(HttpStatus.CREATED)
    public BookView create(@RequestBody NewBook request) {
        Book book = books.save(new Book(request.name()));
        List<ContactView> views = new ArrayList<>();
        for (NewContact contact : request.contacts()) {
            views.add(save(new Contact(book), contact));
        }
        return new BookView(book.id(), book.name(), views);
    }

    @DeleteMapping("/books/{book}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    public void delete(@PathVariable("book") long book) {
        Book found = findBook(book);
        contacts.deleteBook(book);
        books.delete(found);
    }

    @GetMapping("/books/{book}/contacts")
    @Transactional(readOnly = true)
    public PageView<ContactView> contacts(@PathVariable("book") long book, @RequestParam("page") int page) {
        return PageView.of(contacts.findByBookId(book, page(page)).map(ContactView::of));
    }

    @GetMapping("/books/{book}/contacts/{id}")
    @Transactional(readOnly = true)
    public ContactView contact(@PathVariable("book") long book, @PathVariable("id") long id) {
        return ContactView.of(findContact(book, id));
    }

    @PostMapping("/books/{book}/contacts")
    @ResponseStatus(HttpStatus.CREATED)
    public ContactView create(@PathVariable("book") long book, @RequestBody NewContact request) {
        return save(new Contact(findBook(book)), request);
    }

    /** Status 409 if the contact has changed since the client read it. */
    @PutMapping("/books/{book}/contacts/{id}")
    public ContactView update(@PathVariable("book") long book, @PathVariable("id") long id, @RequestBody NewContact request) {
        Contact contact = findContact(book, id);
        if (contact.version() != request.version()) {
            throw new ResponseStatusException(HttpStatus.CONFLICT, "contact " + id + " has version " + contact.version());
        }
        return save(contact, request);
    }

    @DeleteMapping("/books/{book}/contacts/{id}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    public void delete(@PathVariable("book") long book, @PathVariable("id") long id) {
        contacts.delete(findContact(book, id));
    }

    private ContactView save(Contact contact, NewContact request) {
        contact.set(request.name(), request.email(), request.note(), findCity(request.city(), HttpStatus.BAD_REQUEST));
        // At once, as the answer shows the new version.
        return ContactView.of(contacts.saveAndFlush(contact));
    }

    private static PageRequest page(int page) {
        if (page < 0) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "page is " + page + ": pages begin at 0");
        }
        return PageRequest.of(page, PER_PAGE, Sort.by("name", "id"));
    }

    private City findCity(int id, HttpStatus otherwise) {
        return cities.findById(id).orElseThrow(() -> new ResponseStatusException(otherwise, "no city " + id));
    }

    private Book findBook(long id) {
        return books.findById(id).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "no book " + id));
    }

    private Contact findContact(long book, long id) {
        return contacts.findByIdAndBookId(id, book)
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "no contact " + id + " in book " + book));
    }
}

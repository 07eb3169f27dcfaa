// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

/** Stores of references, one to a method, for run.sh to show as machine code. */
public final class Stores {
    private Object name;

    static volatile Object sink;

    void field(Object value) {
        name = value;
    }

    static void element(Object[] array, int index, Object value) {
        array[index] = value;
    }

    /** The initialisation of the new object takes the store with it. */
    static Stores created(Object value) {
        Stores created = new Stores();
        created.name = value;
        return created;
    }

    /** The store is conditional, so the initialisation cannot. */
    static Stores filled(Object value, boolean full) {
        Stores created = new Stores();
        if (full) {
            created.name = value;
        }
        return created;
    }

    public static void main(String[] args) {
        Object[] array = new Object[16];
        Stores stores = new Stores();
        for (int i = 0; i < 200_000; i++) {
            Object value = array[i & 7];
            stores.field(value);
            element(array, i & 15, value);
            sink = created(value);
            sink = filled(value, (i & 1) == 0);
        }
    }
}

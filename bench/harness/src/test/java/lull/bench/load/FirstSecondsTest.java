// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import lull.bench.service.Service;
import org.junit.jupiter.api.Test;

class FirstSecondsTest {
    private final AtomicLong age = new AtomicLong();

    /** Each request takes half a second; those with odd numbers get a wrong answer. */
    private final FirstSeconds answers = new FirstSeconds(new Service.Caller() {
        @Override
        public Service.Connection connect(int port) {
            return new Service.Connection() {
                @Override
                public void request(long number) throws Service.WrongAnswerException {
                    age.addAndGet(500_000_000L);
                    if (number % 2 == 1) {
                        throw new Service.WrongAnswerException("wrong");
                    }
                }

                @Override
                public void close() { }
            };
        }

        @Override
        public int variety() {
            return 7;
        }
    }, 3, age::get, () -> age.get() / 2e9);

    @Test
    void rightAnswersCountInTheSecondInWhichTheyCome() throws Exception {
        assertEquals(7, answers.variety());
        assertTrue(answers.first().isEmpty());
        try (Service.Connection connection = answers.connect(1)) {
            assertThrows(Service.WrongAnswerException.class, () -> connection.request(1));
            assertTrue(answers.first().isEmpty(), "a wrong answer is none");
            // That of the connection's first request, which no phase measures, counts.
            connection.request(Phase.UNMEASURED);
            assertEquals(new FirstSeconds.First(1, 0.5), answers.first().orElseThrow());
            connection.request(2);
            assertThrows(Service.WrongAnswerException.class, () -> connection.request(3));
            connection.request(4);
            // At 3 s and later, when nobody counts.
            connection.request(6);
            connection.request(8);
        }
        assertEquals(new FirstSeconds.First(1, 0.5), answers.first().orElseThrow());
        assertEquals(0, answers.answers(0));
        assertEquals(2, answers.answers(1));
        assertEquals(1, answers.answers(2));
        assertThrows(IndexOutOfBoundsException.class, () -> answers.answers(3));
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.spring;

import lull.requests.servlet.RequestsFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingFilterBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;

/**
 * Puts {@link RequestsFilter} before all other filters of a servlet application, unless one is {@link PriorityOrdered}, too.
 * {@code lull.requests.enabled=false} keeps it out, {@code lull.requests.close=false} keeps it from closing answers. An application that
 * registers one itself gets no other.
 */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(name = "lull.requests.enabled", matchIfMissing = true)
public class RequestsAutoConfiguration {
    @Bean
    @ConditionalOnMissingFilterBean(RequestsFilter.class)
    FilterRegistrationBean<RequestsFilter> lullRequestsFilter(Environment environment) {
        FilterRegistrationBean<RequestsFilter> registration = new First(new RequestsFilter());
        registration.setName(RequestsFilter.NAME);
        registration.setDispatcherTypes(RequestsFilter.dispatches());
        registration.addInitParameter(RequestsFilter.CLOSE, environment.getProperty("lull.requests.close", Boolean.class, true).toString());
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return registration;
    }

    /** Also before filters of the application that claim the highest precedence, which would else come first as its beans do. */
    private static final class First extends FilterRegistrationBean<RequestsFilter> implements PriorityOrdered {
        First(RequestsFilter filter) {
            super(filter);
        }
    }
}

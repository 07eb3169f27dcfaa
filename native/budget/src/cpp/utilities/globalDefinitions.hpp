// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

#ifndef LULL_BUDGET_GLOBALDEFINITIONS_HPP
#define LULL_BUDGET_GLOBALDEFINITIONS_HPP

// Of HotSpot's file of this name, what the policy uses, so that it can be compiled without HotSpot's tree.

#include <stddef.h>
#include <stdint.h>

template<class T> constexpr T MAX2(T a, T b)           { return (a > b) ? a : b; }
template<class T> constexpr T MIN2(T a, T b)           { return (a < b) ? a : b; }
template<class T> constexpr T MAX3(T a, T b, T c)      { return MAX2(MAX2(a, b), c); }
template<class T> constexpr T clamp(T value, T least, T most) { return MIN2(MAX2(value, least), most); }

#endif // LULL_BUDGET_GLOBALDEFINITIONS_HPP

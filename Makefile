# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Lull: a HotSpot 25 with the Lull collector, its tests and its demo. `make help` lists the targets; the scripts that do the
# work are in hotspot/build.

SHELL := /bin/bash
.DEFAULT_GOAL := help
S := hotspot/build

.PHONY: jdk jdk-debug image-full dist test-dist hotspot hotspot-debug source overlay gtest test test-all test-upstream test-unit gate doctor test-native docs bench-deps demo \
        bench bench-quick gate-bench gate-cassandra budget-bench bench-full bench-compare soak bench-far allocator-study barrier-code clean distclean help
# The scripts use all processors themselves, and take turns in the build directory.
.NOTPARALLEL:

jdk:            ## the JDK, at build/jdk; use it as JAVA_HOME
	@$(S)/build.sh jdk release

jdk-debug:      ## the same with HotSpot's assertions and our verifier on, at build/jdk-debug
	@$(S)/build.sh jdk fastdebug

image-full:     ## a JDK of which all is built, Java classes too, at build/jdk-full; takes half an hour more, once
	@$(S)/build.sh image-full

dist:           ## what others install, of the newest OpenJDK 25: archives, packages, bills of materials, at build/dist
	@packaging/dist.sh

test-dist:      ## installs build/dist in empty roots and tries it; packs it again and compares; needs root
	@packaging/test.sh

hotspot:        ## libjvm only, put into build/jdk if that is there
	@$(S)/build.sh hotspot release

hotspot-debug:  ## libjvm only, put into build/jdk-debug if that is there
	@$(S)/build.sh hotspot fastdebug

source:         ## only fetch the OpenJDK source and lay our tree over it, at build/openjdk
	@$(S)/fetch-source.sh
	@$(S)/overlay.sh

overlay: source

gtest:          ## the gtest launcher of the debug build
	@$(S)/build.sh gtest

test:           ## the tests that fit into about 40 minutes on 2 processors; builds what it needs
	@$(S)/test.sh quick

test-all:       ## all tests
	@$(S)/test.sh all

test-upstream:  ## OpenJDK's own tests, TIER="hotspot-tier1 jdk-tier1 ...", on the debug build; over days, goes on where it was interrupted
	@$(S)/upstream.sh $(TIER)

test-unit:      ## the tests that need no VM, in seconds
	@$(S)/unit-tests.sh

gate:           ## the agent that answers while the JVM is stopped, at build/native/liblull_gate.so
	@native/build.sh

doctor:         ## does Lull pay for a service: the command `lull doctor`, at build/doctor/lull
	@java/report/build.sh

test-native:    ## the tests of the Rust parts, with Java services on each JDK that is installed
	@native/test.sh

docs:           ## these pages as a site that can be searched, at build/docs/index.html; checks every link and command in them
	@book/build.sh

# Before the hour that the JDK may take.
bench-deps:
	@$(S)/deps.sh bench

demo: bench-deps jdk       ## a Spring Boot service on Lull and on G1 under the same load; ends with build/demo/index.html; SEARCH=1: looks for the smallest heap first
	@bench/demo.sh

bench: bench-deps jdk      ## Lull, G1, Parallel and Serial at several heap sizes; more than an hour
	@bench/compare.sh

bench-quick: bench-deps jdk ## a look at overheads, throughput and latency of two services; ends with build/bench-results/index.html
	@bench/bench.sh quick

gate-bench: bench-deps ## three replicas under the gate in full collections, with hedging and without (GATE_SERVERS="tomcat jetty undertow grpc"); ends with build/gate-bench/index.html
	@bench/gate/run.sh

gate-cassandra: bench-deps ## the same with a cluster of three Cassandra nodes; ends with build/gate-cassandra/index.html
	@bench/gate/cassandra.sh

budget-bench: bench-deps jdk ## Lucene (BUDGET_WORKLOAD=opensearch, spark: those) with an index larger than its memory, in phases, with the heap budget and without; needs root; half an hour; ends with build/budget-bench/index.html
	@bench/budget/run.sh

bench-full: bench-deps jdk ## what bench-quick does, of all services, collectors and heaps, over days; goes on where it was interrupted
	@bench/bench.sh full

bench-compare:  ## two results files of bench-quick or bench-full, A=FILE B=FILE; fails if something became slower beyond noise
	@bench/bench-compare.sh

soak: bench-deps jdk-debug ## 100,000 requests on the debug build, every answer and every collection checked
	@bench/soak.sh

bench-far:      ## far memory: faults, read-ahead, eviction, misses against exact LRU; some minutes
	@native/far/bench.sh

allocator-study: ## searches and coalescings of free lists on recorded programs; ends with build/allocator/index.html
	@bench/allocator/study.sh

barrier-code: jdk-debug ## the machine code of the commonest stores of references, with Lull's barrier and with G1's
	@hotspot/test/barrier-code/run.sh

clean:          ## what was built; keeps the source tree and the downloads
	@$(S)/clean.sh

distclean:      ## the whole build directory
	@$(S)/clean.sh all

help:
	@echo "make ..."
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'
	@echo
	@echo "Variables: OPENJDK_SRC=/path  an OpenJDK 25 source tree (else the distribution's source package is fetched)"
	@echo "           JAVA_HOME=/path    the JDK 25 that builds ours (else an installed one)"
	@echo "           LULL_BUILD=/path   the build directory (else build/)"
	@echo "           LULL_FORCE=1       build even when nothing seems to have changed"
	@echo "           LULL_VERBOSE=1     show the whole output of each step"
	@echo "           JOBS=N             processors to build with"

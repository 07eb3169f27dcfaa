// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//go:build tools

// Package h2spec pins what h2spec.rs runs, and all that it is built of: native/test.sh builds it.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"

package answering

import _ "unsafe" // for go:linkname

// Protobuf puts a space into some of its texts, or leaves it out, by a checksum of the program that it is part of, so that
// nobody relies on them. json.encode and the errors of messages are such texts: here they have none in any build.
//
//go:linkname spaces google.golang.org/protobuf/internal/detrand.randSeed
var spaces uint64

func init() { spaces = 0 }

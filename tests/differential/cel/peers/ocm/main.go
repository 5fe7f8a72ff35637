// Command ocm answers in OCM's environment, with the versions of the modules that OCM 1.2.0 was built from.
package main

import (
	"muster.dev/differential/cel/answering"
	"muster.dev/differential/cel/ocm/placement"
)

func main() {
	answering.Serve(map[string]answering.Maker{"ocm": placement.Environment})
}

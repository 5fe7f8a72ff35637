// Command olm answers in the environment of olm.constraint, with the cel-go that its package was built from.
package main

import (
	"muster.dev/differential/cel/answering"
	"muster.dev/differential/cel/olm/rules"
)

func main() {
	answering.Serve(map[string]answering.Maker{"olm": rules.Environment})
}

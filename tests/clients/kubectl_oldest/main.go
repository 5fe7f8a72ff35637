// kubectl of the oldest release that can be had and still builds, from its module.
package main

import (
	"os"
	_ "unsafe" // for the names below

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/version"
	"k8s.io/kubectl/pkg/cmd"
)

// What a release has stamped into it: kubectl compares its own version with the server's.

//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

func main() {
	gitVersion, gitMajor, gitMinor = "v1.23.3", "1", "23"
	if err := cmd.NewDefaultKubectlCommand().Execute(); err != nil {
		os.Exit(1)
	}
}

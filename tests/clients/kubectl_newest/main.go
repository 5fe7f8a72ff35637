// kubectl of the newest release that can be had, built from its module.
package main

import (
	"sync/atomic"
	_ "unsafe" // for the names below

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/version"
	"k8s.io/kubectl/pkg/cmd"
)

// What a release has stamped into it: kubectl compares its own version with the server's.

//go:linkname dynamicGitVersion k8s.io/component-base/version.dynamicGitVersion
var dynamicGitVersion atomic.Value

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

func main() {
	gitMajor, gitMinor = "1", "37"
	dynamicGitVersion.Store("v1.37.2")
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		panic(err)
	}
}

// Command placement answers what Open Cluster Management's placement controller makes of the objects it is given.
//
// One question per line: objects, a placement, a time. The scheduling controller of the published module looks at
// them once, with listers that hold exactly these objects and a client that keeps what it writes; the answer is what
// it wrote and what its scheduler said on the way. It keeps nothing from one question to the next.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

func main() {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Parse([]string{"-logtostderr=false", "-alsologtostderr=false", "-stderrthreshold=FATAL"})
	klog.SetOutput(io.Discard)

	world := newWorld()
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		body, err := json.Marshal(answered(world, line))
		if err != nil {
			body, _ = json.Marshal(answer{Unanswered: err.Error()})
		}
		_, _ = out.Write(append(body, '\n'))
		if lines.Buffered() == 0 {
			_ = out.Flush()
		}
	}
}

func answered(world *world, line []byte) (result answer) {
	defer func() {
		if cause := recover(); cause != nil {
			result = answer{Panic: fmt.Sprint(cause)}
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Unanswered: err.Error()}
	}
	return world.look(&asked)
}

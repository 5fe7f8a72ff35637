package main

import (
	"bytes"
	"strconv"
	"sync/atomic"
	"time"
)

var mark = []byte("tick-") // followed by when the request was sent, in nanoseconds

const digits = 19

// Watcher reads the events of a collection, and checks that none is missing, comes twice or out of order.
type Watcher struct {
	server   *Server
	path     string
	prefix   []byte // of the names that count
	delays   []int32
	events   atomic.Int64
	revision int64
	disorder int64
	again    int64
	problem  string
	current  atomic.Pointer[Connection]
	ended    atomic.Bool
}

func (w *Watcher) open() (*Connection, error) {
	connection, err := connect(w.server)
	if err == nil {
		w.current.Store(connection)
	}
	return connection, err
}

// run reads until it is ended. A connection that is lost is opened again from the last revision that was seen.
func (w *Watcher) run(opened chan<- error, done func()) {
	defer done()
	for first := true; !w.ended.Load(); first = false {
		connection, err := w.open()
		if err == nil {
			err = w.read(connection, first, opened)
			connection.close()
		} else if first {
			opened <- err
		}
		if w.ended.Load() {
			return
		}
		w.again++
		if err != nil {
			w.problem = err.Error()
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (w *Watcher) read(connection *Connection, first bool, opened chan<- error) error {
	lines, err := connection.lines(w.path + "?watch=true&resourceVersion=" + strconv.FormatInt(w.revision, 10))
	if first {
		opened <- err
	}
	if err != nil {
		return err
	}
	var long []byte
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && len(line) > 0 && len(line) >= lines.Size() { // longer than the buffer: put together
			long = append(long[:0], line...)
			rest, err := lines.ReadBytes('\n')
			if err != nil {
				return err
			}
			line = append(long, rest...)
		} else if err != nil {
			return err
		}
		w.take(line)
	}
}

func (w *Watcher) take(line []byte) {
	revision := number(after(line, `"resourceVersion":"`))
	if revision <= w.revision {
		w.disorder++
	}
	w.revision = revision
	if !bytes.HasPrefix(after(line, `"name":"`), w.prefix) {
		return
	}
	w.events.Add(1)
	if bytes.HasPrefix(line, []byte(`{"type":"DELETED"`)) {
		return // it shows what was written last, which was not the deletion
	}
	if at := bytes.LastIndex(line, mark); at >= 0 && len(line) >= at+len(mark)+digits {
		sent := number(line[at+len(mark):])
		w.delays = append(w.delays, int32((time.Now().UnixNano()-sent)/1000))
	}
}

func (w *Watcher) end() {
	w.ended.Store(true)
	if connection := w.current.Load(); connection != nil {
		connection.close()
	}
}

// after gives what stands behind the metadata's first such text.
func after(line []byte, text string) []byte {
	at := bytes.Index(line, []byte(text))
	if at < 0 {
		return nil
	}
	return line[at+len(text):]
}

func number(text []byte) int64 {
	var value int64
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			break
		}
		value = value*10 + int64(digit-'0')
	}
	return value
}

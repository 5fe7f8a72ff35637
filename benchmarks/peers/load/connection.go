package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"strconv"
	"time"
)

// Server is where requests go, and as whom.
type Server struct {
	address string
	head    string
	tls     *tls.Config
}

func newServer(job *Job) (*Server, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(job.Authority)) {
		return nil, errors.New("the authority is no certificate")
	}
	head := " HTTP/1.1\r\nHost: " + job.Address + "\r\nAuthorization: Bearer " + job.Token +
		"\r\nAccept: application/json\r\nUser-Agent: muster-load\r\n"
	return &Server{job.Address, head, &tls.Config{RootCAs: pool, NextProtos: []string{"http/1.1"}}}, nil
}

// Connection carries one request at a time over HTTP/1.1 and TLS, and does as little else as it can: what the client
// takes of the machine is not there for the server.
type Connection struct {
	server *Server
	link   *tls.Conn
	reader *bufio.Reader
	out    []byte
	answer []byte
}

func connect(server *Server) (*Connection, error) {
	link, err := tls.Dial("tcp", server.address, server.tls)
	if err != nil {
		return nil, err
	}
	return &Connection{server: server, link: link, reader: bufio.NewReaderSize(link, 16*1024)}, nil
}

func (c *Connection) close() { c.link.Close() }

// send writes a request as one record.
func (c *Connection) send(method, path, contentType string, body []byte) error {
	c.out = append(c.out[:0], method...)
	c.out = append(c.out, ' ')
	c.out = append(c.out, path...)
	c.out = append(c.out, c.server.head...)
	if body != nil {
		c.out = append(c.out, "Content-Type: "...)
		c.out = append(c.out, contentType...)
		c.out = append(c.out, "\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(body)), 10)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(c.out, "\r\n"...)
	c.out = append(c.out, body...)
	_, err := c.link.Write(c.out)
	return err
}

// head reads the status line and the headers: code, length of the body, and -1 for one in chunks.
func (c *Connection) head() (int, int, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < 12 {
		return 0, 0, fmt.Errorf("no status line: %q", line)
	}
	code, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, 0, err
	}
	length := 0
	for {
		line, err = c.reader.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		if len(line) <= 2 {
			return code, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, 0, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			length = -1
		}
	}
}

// request sends, and reads the whole answer. The bytes are valid until the next request.
func (c *Connection) request(method, path, contentType string, body []byte) (int, []byte, error) {
	if err := c.send(method, path, contentType, body); err != nil {
		return 0, nil, err
	}
	code, length, err := c.head()
	if err != nil {
		return 0, nil, err
	}
	if length >= 0 {
		if cap(c.answer) < length {
			c.answer = make([]byte, length)
		}
		c.answer = c.answer[:length]
		_, err = io.ReadFull(c.reader, c.answer)
		return code, c.answer, err
	}
	buffer := bytes.NewBuffer(c.answer[:0])
	_, err = buffer.ReadFrom(httputil.NewChunkedReader(c.reader))
	c.answer = buffer.Bytes()
	if err == nil {
		_, err = c.reader.ReadSlice('\n') // the empty line behind the last chunk
	}
	return code, c.answer, err
}

// lines opens a watch and gives what reads its events, one a line.
func (c *Connection) lines(path string) (*bufio.Reader, error) {
	if err := c.send("GET", path, "", nil); err != nil {
		return nil, err
	}
	code, _, err := c.head()
	if err != nil {
		return nil, err
	}
	if code != 200 {
		return nil, fmt.Errorf("the watch was answered with %d", code)
	}
	return bufio.NewReaderSize(httputil.NewChunkedReader(c.reader), 16*1024), nil
}

// pacer says when a client is to send next.
type pacer struct {
	due   time.Time
	pause time.Duration
}

func (p *pacer) wait() {
	if p.pause > 0 {
		time.Sleep(time.Until(p.due))
		p.due = p.due.Add(p.pause)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

const merge = "application/merge-patch+json"

// Client does its part of the work over a connection of its own, one request after the other.
type Client struct {
	job        *Job
	number     int
	connection *Connection
	count      int
	body       []byte
	names      []string // of the objects that it looks after
	revisions  []string
	renewed    []string
	latencies  []int32
	answers    int
	changes    int
	errors     int
	problem    string
}

// one sends the next request of this kind of work, and says whether it was well answered.
func (c *Client) one() {
	started := time.Now()
	code, answer, err := c.send(started)
	if err != nil {
		c.fail(err.Error())
		c.connection.close()
		again, err := connect(c.connection.server)
		if err != nil {
			c.fail(err.Error()) // the next request fails on the closed one, and comes here again
			return
		}
		c.connection = again
		return
	}
	if code >= 300 {
		c.fail(fmt.Sprintf("%d %.300s", code, answer))
		return
	}
	c.latencies = append(c.latencies, int32(time.Since(started).Microseconds()))
	c.answers++
}

func (c *Client) fail(problem string) {
	c.errors++
	c.problem = problem
}

func (c *Client) send(now time.Time) (int, []byte, error) {
	job, count := c.job, c.count
	c.count++
	switch job.Work {
	case "create":
		name := job.Prefix + "-" + strconv.Itoa(c.number) + "-" + strconv.Itoa(count)
		return c.changed(c.connection.request("POST", job.Path, "application/json", c.filled(name, now)))
	case "status":
		path := job.Path + "/" + c.names[count%len(c.names)] + "/status"
		c.body = append(c.body[:0], `{"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"True",`...)
		c.body = append(c.body, `"reason":"ManagedClusterAvailable","lastTransitionTime":"2026-01-05T08:05:45Z","message":"`...)
		c.body = append(tick(c.body, now), `"}]}}`...)
		return c.changed(c.connection.request("PATCH", path, merge, c.body))
	case "renew":
		return c.renew(count%len(c.names), now)
	case "get":
		return c.connection.request("GET", job.Path+"/"+c.names[count%len(c.names)], "", nil)
	case "list":
		return c.connection.request("GET", job.Path, "", nil)
	default:
		return c.churn(count, now)
	}
}

func (c *Client) changed(code int, answer []byte, err error) (int, []byte, error) {
	if err == nil && code < 300 {
		c.changes++
	}
	return code, answer, err
}

// churn creates an object, labels it twice and deletes it, again and again.
func (c *Client) churn(count int, now time.Time) (int, []byte, error) {
	name := c.job.Prefix + "-" + strconv.Itoa(c.number) + "-" + strconv.Itoa(count/4)
	path := c.job.Path + "/" + name
	switch count % 4 {
	case 0:
		return c.changed(c.connection.request("POST", c.job.Path, "application/json", c.filled(name, now)))
	case 3:
		return c.changed(c.connection.request("DELETE", path, "", nil))
	default:
		c.body = append(tick(append(c.body[:0], `{"metadata":{"labels":{"tick":"`...), now), `"}}}`...)
		return c.changed(c.connection.request("PATCH", path, merge, c.body))
	}
}

// renew is what an agent does once a minute: the whole lease with another time, at the revision that it knows.
func (c *Client) renew(which int, now time.Time) (int, []byte, error) {
	name, renewed := c.names[which], now.UTC().Format("2006-01-02T15:04:05.000000Z")
	c.body = append(c.body[:0], `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"`...)
	c.body = append(append(c.body, name...), `","namespace":"default","resourceVersion":"`...)
	c.body = append(append(c.body, c.revisions[which]...), `"},"spec":{"holderIdentity":"`...)
	c.body = append(append(c.body, name...), `","leaseDurationSeconds":60,"renewTime":"`...)
	c.body = append(append(c.body, renewed...), `"}}`...)
	code, answer, err := c.changed(c.connection.request("PUT", c.job.Path+"/"+name, "application/json", c.body))
	if err == nil && code < 300 {
		revision := after(answer, `"resourceVersion":"`)
		c.revisions[which] = string(revision[:bytes.IndexByte(revision, '"')])
		c.renewed[which] = renewed
	}
	return code, answer, err
}

func (c *Client) filled(name string, now time.Time) []byte {
	parts := c.job.parts[c.count%len(c.job.parts)]
	c.body = append(append(append(c.body[:0], parts[0]...), name...), parts[1]...)
	if at := bytes.Index(c.body, []byte("TICK")); at >= 0 {
		rest := string(c.body[at+4:])
		c.body = append(tick(c.body[:at], now), rest...)
	}
	return c.body
}

func tick(body []byte, now time.Time) []byte {
	return strconv.AppendInt(append(body, mark...), now.UnixNano(), 10)
}

// known is what a list says of the objects that are there.
type known struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Name            string `json:"name"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Spec struct {
			RenewTime string `json:"renewTime"`
		} `json:"spec"`
	} `json:"items"`
}

func listed(server *Server, path string) (*known, error) {
	connection, err := connect(server)
	if err != nil {
		return nil, err
	}
	defer connection.close()
	code, answer, err := connection.request("GET", path, "", nil)
	if err != nil {
		return nil, err
	}
	if code != 200 {
		return nil, fmt.Errorf("the list was answered with %d", code)
	}
	found := &known{}
	return found, json.Unmarshal(answer, found)
}

// lost counts the renewals that were acknowledged and are not what the server holds now.
func lost(clients []*Client, now *known) int {
	held := map[string]string{}
	for _, item := range now.Items {
		held[item.Metadata.Name] = item.Spec.RenewTime
	}
	missing := 0
	for _, client := range clients {
		for which, name := range client.names {
			if renewed := client.renewed[which]; renewed != "" && held[name] != renewed {
				missing++
			}
		}
	}
	return missing
}

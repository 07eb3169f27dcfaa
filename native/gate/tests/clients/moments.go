// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Go's own client of HTTP/2, as Moments.java uses its clients: go run moments.go PORT - - BUSY SECONDS MOMENT FILE

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A body: what is sent at once, and what behind it, when the file has got longer.
type parts struct {
	now, rest int
	file      string
	before    int64
	late      atomic.Bool
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return -1
	}
	return info.Size()
}

func newParts(length int, moment, file string) *parts {
	now := map[string]int{"head": 0, "middle": length / 2, "end": length}[moment]
	return &parts{now: now, rest: length - now, file: file, before: size(file)}
}

func (p *parts) Read(to []byte) (int, error) {
	if p.now == 0 && p.rest > 0 {
		end := time.Now().Add(3 * time.Second)
		for size(p.file) == p.before {
			if time.Now().After(end) {
				p.late.Store(true)
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		p.now, p.rest = p.rest, 0
	}
	if p.now == 0 {
		return 0, io.EOF
	}
	n := min(len(to), p.now)
	p.now -= n
	return n, nil
}

func send(client *http.Client, url string, body *parts, length int) string {
	method, content := "GET", io.Reader(nil)
	if body != nil {
		method, content = "POST", body
	}
	request, err := http.NewRequest(method, url, content)
	if err != nil {
		return err.Error()
	}
	request.ContentLength = int64(length)
	response, err := client.Do(request)
	if err != nil {
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err.Error()
	}
	switch response.StatusCode {
	case 200:
		return "ok"
	case 503:
		return "busy"
	}
	return fmt.Sprint("status ", response.StatusCode)
}

func main() {
	wanted, _ := strconv.Atoi(os.Args[4])
	seconds, _ := strconv.Atoi(os.Args[5])
	moment, file := os.Args[6], os.Args[7]
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: 120 * time.Second}
	for _, length := range []int{0, 5, 30_000, 1_000_000} {
		if length == 0 && moment != "end" {
			continue
		}
		end := time.Now().Add(time.Duration(seconds) * time.Second)
		busy := 0
		for n := 0; busy < wanted && time.Now().Before(end); n++ {
			target := fmt.Sprintf("/go/%s/%d/%d", moment, length, n)
			var body *parts
			if length > 0 {
				body = newParts(length, moment, file)
			}
			how := send(client, "http://127.0.0.1:"+os.Args[1]+target, body, length)
			if how != "ok" {
				busy++
			}
			late := "-"
			if body != nil && body.late.Load() {
				late = "late"
			}
			fmt.Println(target, late, how)
		}
	}
}

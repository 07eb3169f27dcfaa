// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
//
// Go's own client of HTTP/2, as Clients.java uses its clients: go run client.go PORT BUSY SECONDS

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func send(client *http.Client, url string, body int) string {
	method, content := "POST", io.Reader(bytes.NewReader(make([]byte, body)))
	if body == 0 {
		method, content = "GET", nil
	}
	request, err := http.NewRequest(method, url, content)
	if err != nil {
		return err.Error()
	}
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
	var numbers [3]int
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(os.Args[i+1])
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: 120 * time.Second}
	end := time.Now().Add(time.Duration(numbers[2]) * time.Second)
	for _, body := range []int{0, 5, 30_000, 1_000_000, 8_000_000} {
		busy := 0
		for n := 0; busy < numbers[1] && time.Now().Before(end); n++ {
			target := fmt.Sprintf("/go/%d/%d", body, n)
			how := send(client, fmt.Sprintf("http://127.0.0.1:%d%s", numbers[0], target), body)
			if how != "ok" {
				busy++
			}
			fmt.Println(target, how)
		}
	}
}

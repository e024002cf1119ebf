// Creates a plant with a random id: ACCESS_TOKEN=… go run create_plant.go http://127.0.0.1:3000 'Monstera deliciosa' body.json
// The file keeps the body until the outcome is known. After a crash, the next run sends the same body again.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	mathrand "math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	maxAttempts   = 6
	maxRetryAfter = 60 // seconds
)

var client = http.Client{
	// Longer than the deadline of the service, which is 15 s.
	Timeout: 20 * time.Second,
	// A redirect can lead to a login page, whose status is 200.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type newPlant struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type reply struct {
	code       int // the error number; the status when the body has none
	retryAfter time.Duration
}

func send(address string, body []byte) (reply, error) {
	request, err := http.NewRequest("POST", address+"/plants", bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("ACCESS_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	var failure struct {
		Error int `json:"error"`
	}
	code := response.StatusCode
	if json.NewDecoder(response.Body).Decode(&failure) == nil && failure.Error != 0 {
		code = failure.Error
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 for the date of a proxy
	return reply{code, time.Duration(min(seconds, maxRetryAfter)) * time.Second}, nil
}

// Saves a body before it is sent, unless an earlier run has done so. Returns it, and whether it may have been sent.
func savedBody(file, name string) ([]byte, bool) {
	if body, err := os.ReadFile(file); err == nil {
		return body, true
	}
	var random [8]byte
	_, err := rand.Read(random[:])
	check(err)
	body, err := json.Marshal(newPlant{int64(binary.BigEndian.Uint64(random[:])), name})
	check(err)
	check(os.WriteFile(file+".new", body, 0o600))
	check(os.Rename(file+".new", file))
	return body, false
}

func createPlant(address string, body []byte, unknown bool) string {
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		got, err := send(address, body)
		switch {
		case err == nil && (got.code == 200 || got.code == 4006 && unknown):
			return "stored"
		case err != nil || got.code == 5031 || got.code >= 500 && got.code <= 599:
			// No response, or a proxy has no response of the service.
			unknown = true
		case got.code == 429 || got.code == 4080 || got.code == 5030 || got.code == 5032:
			// Nothing was stored, and the same request can succeed later. A proxy sends 429.
		case unknown:
			return "unknown"
		default:
			return fmt.Sprintf("refused %d", got.code)
		}
		if attempt < maxAttempts {
			backOff := float64(int(100)<<attempt) * mathrand.Float64()
			time.Sleep(got.retryAfter + time.Duration(backOff)*time.Millisecond)
		}
	}
	if unknown {
		return "unknown"
	}
	return "not stored"
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	address, name, file := os.Args[1], os.Args[2], os.Args[3]
	body, mayBeSent := savedBody(file, name)
	var plant newPlant
	check(json.Unmarshal(body, &plant))
	outcome := createPlant(address, body, mayBeSent)
	if outcome == "stored" || strings.HasPrefix(outcome, "refused") {
		check(os.Remove(file))
	}
	fmt.Println(plant.ID, outcome)
	if outcome != "stored" {
		os.Exit(1)
	}
}

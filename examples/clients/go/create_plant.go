// Creates a plant with a random id: ACCESS_TOKEN=… go run create_plant.go http://127.0.0.1:3000 'Monstera deliciosa' body.json
// The file keeps the body until the plant is stored or refused. If it exists, its body is sent, and the name is ignored.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
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
	status     int
	name       any // in the body: only the service knows it
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
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	var members map[string]any
	_ = json.Unmarshal(text, &members) // leaves it empty for a page of a proxy
	code := response.StatusCode
	if number, isNumber := members["error"].(float64); isNumber {
		code = int(number)
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 for the date of a proxy
	retryAfter := time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second
	return reply{response.StatusCode, members["name"], code, retryAfter}, nil
}

// Saves a body before it is sent.
func saveNewBody(file, name string) {
	var random [8]byte
	_, err := rand.Read(random[:])
	check(err)
	body, err := json.Marshal(newPlant{int64(binary.BigEndian.Uint64(random[:])), name})
	check(err)
	check(os.WriteFile(file+".new", body, 0o600))
	check(os.Rename(file+".new", file))
}

func savedBody(file string) ([]byte, newPlant) {
	var plant newPlant
	body, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(body, &plant)
	}
	if err != nil {
		log.Fatalf("%s: expected a saved body (%v). To create another plant, remove the file.", file, err)
	}
	return body, plant
}

func createPlant(address string, body []byte, name string, unknown bool) string {
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		got, err := send(address, body)
		switch {
		case err != nil:
			log.Print("no response: ", err)
			unknown = true
		case got.status == 200 && got.name == name:
			return "stored"
		case got.status < 300: // a page of a proxy
			unknown = true
		case got.code == 4006 && unknown:
			return "stored"
		case got.status == 429 || got.code == 4080 || got.code == 5030 || got.code == 5032:
			// Nothing was stored, and the same request can succeed later.
		case got.code == 5000: // a bug, which a retry would meet again
			return "unknown"
		case got.status >= 500:
			unknown = true
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
		log.Fatal(err)
	}
}

func main() {
	if len(os.Args) != 4 || os.Getenv("ACCESS_TOKEN") == "" {
		log.Fatal("usage: ACCESS_TOKEN=… create_plant ADDRESS NAME FILE")
	}
	address, name, file := os.Args[1], os.Args[2], os.Args[3]
	_, err := os.Stat(file)
	mayBeSent := !errors.Is(err, fs.ErrNotExist)
	if !mayBeSent {
		saveNewBody(file, name)
	}
	body, plant := savedBody(file)
	outcome := createPlant(address, body, plant.Name, mayBeSent)
	if outcome == "stored" || strings.HasPrefix(outcome, "refused") {
		check(os.Remove(file))
	}
	fmt.Println(plant.ID, outcome)
	if outcome != "stored" {
		os.Exit(1)
	}
}

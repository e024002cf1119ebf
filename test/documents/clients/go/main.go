// Reads jobs from standard input, one a line, and writes their results: see clients.test.ts.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"example.com/plantstore"
)

type job struct {
	Number                   int
	Key, Address             string
	Tokens                   []string
	RetryFor, Timeout        float64
	Deadline                 float64
	Again, Defaults, Wrapped bool
	Malformed                string
	Plant                    struct {
		ID, Name string
		Tag      *string
	}
}

type result struct {
	Job        int     `json:"job"`
	Outcome    string  `json:"outcome"`
	Error      int     `json:"error,omitempty"`
	Status     int     `json:"status,omitempty"`
	Message    string  `json:"message,omitempty"`
	RequestID  string  `json:"requestId,omitempty"`
	RetryAfter float64 `json:"retryAfter"`
}

// The names of the other clients, which have a class for each outcome.
var names = map[error]string{
	plantstore.ErrInvalid:      "InvalidPlantError",
	plantstore.ErrTaken:        "PlantIdTakenError",
	plantstore.ErrUnauthorized: "UnauthorizedError",
	plantstore.ErrForbidden:    "ForbiddenError",
	plantstore.ErrRefused:      "RefusedError",
	plantstore.ErrUnavailable:  "UnavailableError",
	plantstore.ErrUnknown:      "OutcomeUnknownError",
}

var (
	lock    sync.Mutex
	clients = map[string]*plantstore.Client{}
)

// A transport such as those of tracing.
type wrapped struct{ http.RoundTripper }

func clientOf(j job) *plantstore.Client {
	lock.Lock()
	defer lock.Unlock()
	if clients[j.Key] == nil {
		transport := http.DefaultTransport
		if j.Wrapped {
			http.DefaultTransport = wrapped{transport}
		}
		client := plantstore.New(j.Address, "")
		http.DefaultTransport = transport
		client.RetryFor = time.Duration(j.RetryFor * float64(time.Second))
		client.Timeout = time.Duration(j.Timeout * float64(time.Second))
		client.Token = func(context.Context) (string, error) {
			lock.Lock()
			defer lock.Unlock()
			if len(j.Tokens) == 0 {
				return "", errors.New("no token today")
			}
			token := j.Tokens[0]
			if len(j.Tokens) > 1 {
				j.Tokens = j.Tokens[1:]
			}
			return token, nil
		}
		clients[j.Key] = client
	}
	return clients[j.Key]
}

func resultOf(j job) result {
	if j.Defaults {
		client := plantstore.New(j.Address, "")
		return result{Job: j.Number, Message: fmt.Sprint(client.RetryFor.Seconds(), client.Timeout.Seconds())}
	}
	client := clientOf(j)
	id, err := strconv.ParseInt(j.Plant.ID, 10, 64)
	if err != nil {
		panic(err)
	}
	plant := plantstore.Plant{ID: id, Name: j.Plant.Name, Tag: j.Plant.Tag}
	malformed := "\xff"
	switch j.Malformed {
	case "name":
		plant.Name = malformed
	case "tag":
		plant.Tag = &malformed
	}
	create := client.Create
	if j.Again {
		create = client.CreateAgain
	}
	ctx, cancel := context.Background(), func() {}
	if j.Deadline > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(j.Deadline*float64(time.Second)))
	}
	defer cancel()
	err = create(ctx, plant)
	if err == nil {
		return result{Job: j.Number, Outcome: "stored"}
	}
	var failure *plantstore.Error
	if !errors.As(err, &failure) {
		panic(err)
	}
	for outcome, name := range names {
		if errors.Is(err, outcome) != (name == names[failure.Outcome]) {
			panic("more than one outcome")
		}
	}
	return result{j.Number, names[failure.Outcome], failure.Code, failure.Status, failure.Message, failure.RequestID, failure.RetryAfter.Seconds()}
}

func main() {
	jobs, results := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var j job
		if jobs.Decode(&j) != nil {
			return
		}
		go func() {
			done := resultOf(j)
			lock.Lock()
			defer lock.Unlock()
			_ = results.Encode(done)
		}()
	}
}

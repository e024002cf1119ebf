// Package plantstore is a client for Plant Store. It needs only the standard library.
//
//	plants := plantstore.New("https://plants.example.com", token)
//	err := plants.Create(ctx, plantstore.Plant{ID: plantstore.NewID(), Name: "Monstera deliciosa"})
//
// Create returns an [*Error], which [errors.Is] matches with one of the outcomes below.
package plantstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Outcomes other than stored.
var (
	// ErrInvalid means not stored: the plant violates a rule, which the message names.
	ErrInvalid = errors.New("the plant is invalid")
	// ErrTaken means not stored: another plant has this id.
	ErrTaken = errors.New("the id is taken")
	// ErrUnauthorized means not stored: get a new token.
	ErrUnauthorized = errors.New("the token is not accepted")
	// ErrForbidden means not stored: the token lacks the permission to create plants.
	ErrForbidden = errors.New("the token lacks the permission")
	// ErrRefused means not stored, and repeating the request does not help: check the address.
	ErrRefused = errors.New("the request is refused")
	// ErrUnavailable means not stored: try again later.
	ErrUnavailable = errors.New("the service is unavailable")
	// ErrUnknown means that the plant may be stored now, or may be stored later. Keep the plant, and pass it to
	// [Client.CreateAgain] later. If Code is 5000, the service has a bug: report it to the operator.
	ErrUnknown = errors.New("the outcome is unknown")
)

const (
	maxRetryAfter  = time.Minute
	defaultRetry   = time.Minute
	defaultTimeout = 20 * time.Second // The service responds within 15 seconds.
)

// RFC 6750 section 2.1.
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// Error says why a create failed.
type Error struct {
	// Outcome is one of ErrInvalid, ErrTaken, ErrUnauthorized, ErrForbidden, ErrRefused, ErrUnavailable and ErrUnknown.
	Outcome error
	// Code is the service's error number, such as 4005. It is 0 if the service did not respond.
	Code int
	// Status is the HTTP status, and 0 without a response.
	Status int
	// Message is for people.
	Message string
	// RequestID identifies the request in the service's log: quote it to the operator. Empty without a response.
	RequestID string
	// RetryAfter is how long the service asks you to wait before you try again.
	RetryAfter time.Duration
	// Cause is an error of the network, of the context, or of Token. May be nil.
	Cause error
}

func (e *Error) Error() string { return fmt.Sprintf("plantstore: %v: %s", e.Outcome, e.Message) }

// Is reports whether the target is the outcome, for [errors.Is].
func (e *Error) Is(target error) bool { return target == e.Outcome }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Plant is a plant to create.
type Plant struct {
	// ID identifies one plant permanently: see [NewID].
	ID int64 `json:"id"`
	// Name may be empty.
	Name string `json:"name"`
	// Tag is optional.
	Tag *string `json:"tag,omitempty"`
}

// NewID returns a random id. With a million plants, the chance that any two collide is 3 in 100 million.
func NewID() int64 { return int64(randomBits()) }

func randomBits() uint64 {
	var bits [8]byte
	if _, err := rand.Read(bits[:]); err != nil {
		panic(err) // The operating system has no randomness.
	}
	return binary.BigEndian.Uint64(bits[:])
}

// Client creates plants. Use one for the whole program, from any goroutine: its creates share connections. Set its fields
// before you use it.
type Client struct {
	// Token returns a valid bearer token. It is called for every attempt.
	Token func(context.Context) (string, error)
	// RetryFor is how long Create keeps starting attempts: a minute, unless you change it.
	RetryFor time.Duration
	// Timeout is how long one attempt may take: 20 seconds, unless you change it.
	Timeout time.Duration
	// Transport sends the requests. It must not repeat one that it has sent. By default, it is [http.DefaultTransport], or a
	// copy that keeps more idle connections if no program has wrapped it.
	Transport http.RoundTripper

	url string
}

// New returns a client for the service's address, including its base path, such as https://plants.example.com.
func New(address, token string) *Client {
	transport := http.DefaultTransport
	if standard, ok := transport.(*http.Transport); ok {
		own := standard.Clone()
		own.MaxIdleConnsPerHost = own.MaxIdleConns
		transport = own
	}
	return &Client{
		Token:     func(context.Context) (string, error) { return token, nil },
		RetryFor:  defaultRetry,
		Timeout:   defaultTimeout,
		Transport: transport,
		url:       strings.TrimRight(address, "/") + "/plants",
	}
}

// Create returns nil when the plant is stored. It repeats the request while that is safe and useful: a plant is never
// stored twice. When ctx ends, it returns, with ErrUnknown if a request was sent.
func (c *Client) Create(ctx context.Context, plant Plant) error {
	return c.create(ctx, plant, false)
}

// CreateAgain creates a plant whose earlier create may have stored it: after [ErrUnknown], or after a crash. Pass the same
// plant. If the id is taken, this plant counts as stored. That is true if no other client uses the id, as with random ids.
func (c *Client) CreateAgain(ctx context.Context, plant Plant) error {
	return c.create(ctx, plant, true)
}

func (c *Client) create(ctx context.Context, plant Plant, mayBeStored bool) error {
	// Invalid bytes would be replaced silently.
	if !utf8.ValidString(plant.Name) || plant.Tag != nil && !utf8.ValidString(*plant.Tag) {
		return &Error{Outcome: ErrInvalid, Message: "name and tag must be UTF-8"}
	}
	body, err := json.Marshal(plant)
	if err != nil {
		return err
	}
	end := time.Now().Add(c.RetryFor)
	for attempt := 1; ; attempt++ {
		failure := c.attempt(ctx, body, plant.Name)
		if failure == nil || mayBeStored && failure.Outcome == ErrTaken {
			return nil
		}
		mayBeStored = mayBeStored || failure.Outcome == ErrUnknown
		longest := float64(100*time.Millisecond) * math.Exp2(float64(attempt))
		backOff := math.Min(longest, float64(time.Hour)) * float64(randomBits()>>11) / (1 << 53)
		pause := failure.RetryAfter + time.Duration(backOff)
		if !failure.isTemporary() || time.Now().Add(pause).After(end) || !sleep(ctx, pause) {
			if mayBeStored {
				return failure.asUnknown()
			}
			return failure
		}
	}
}

// attempt sends the request once. It returns nil if the plant is stored.
func (c *Client) attempt(ctx context.Context, body []byte, name string) *Error {
	token, err := c.Token(ctx)
	if err != nil {
		return &Error{Outcome: ErrUnauthorized, Message: "no token was returned", Cause: err}
	}
	if !bearerToken.MatchString(token) {
		return &Error{Outcome: ErrUnauthorized, Message: "the token has characters that no bearer token has"}
	}
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	ctx, cancel := context.WithTimeout(httptrace.WithClientTrace(ctx, trace), c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return &Error{Outcome: ErrRefused, Message: "the address is not an HTTP URL", Cause: err}
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: c.Transport, CheckRedirect: noRedirect}
	response, err := client.Do(request)
	if err != nil {
		return withoutResponse(err, connected.Load())
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return withoutResponse(err, true)
	}
	return failureOf(response, text, name)
}

// noRedirect is for redirects that lead to a login page, whose status is 200.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func withoutResponse(err error, sent bool) *Error {
	outcome := ErrUnavailable
	if sent {
		outcome = ErrUnknown
	}
	reason := err
	if outer, ok := err.(*url.Error); ok {
		reason = outer.Err // It does not repeat the address.
	}
	return &Error{Outcome: outcome, Message: "no response: " + reason.Error(), Cause: err}
}

func failureOf(response *http.Response, text []byte, name string) *Error {
	var fields struct {
		Name    *string
		Error   int
		Message string
	}
	// What is not such an object comes from a proxy, and has no number.
	err := json.Unmarshal(text, &fields)
	status := response.StatusCode
	if err == nil && status == http.StatusOK && fields.Name != nil && *fields.Name == name {
		return nil
	}
	if err != nil || fields.Error == 0 {
		fields.Error, fields.Message = 0, fmt.Sprintf("unexpected response with status %d", status)
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 for the date of a proxy.
	retryAfter := time.Duration(seconds) * time.Second
	if seconds < 0 {
		retryAfter = 0
	} else if seconds > int(maxRetryAfter/time.Second) {
		retryAfter = maxRetryAfter
	}
	return &Error{
		Outcome:    outcomeOf(status, fields.Error),
		Code:       fields.Error,
		Status:     status,
		Message:    fields.Message,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter,
	}
}

func outcomeOf(status, code int) error {
	switch {
	case code == 4006:
		return ErrTaken
	case code == 4001 || code == 4003 || code == 4004 || code == 4005:
		return ErrInvalid
	case code == 4080 || code == 5030 || code == 5032 || status == http.StatusTooManyRequests:
		return ErrUnavailable
	case status == http.StatusUnauthorized:
		return ErrUnauthorized
	case status == http.StatusForbidden:
		return ErrForbidden
	case status >= 500 || status < 300:
		// A success that is not the service's: a proxy may have made it out of anything.
		return ErrUnknown
	default:
		return ErrRefused
	}
}

func (e *Error) isTemporary() bool {
	return e.Outcome == ErrUnavailable || e.Outcome == ErrUnknown && e.Code != 5000
}

func (e *Error) asUnknown() *Error {
	if e.Outcome == ErrUnknown {
		return e
	}
	unknown := *e
	unknown.Outcome = ErrUnknown
	unknown.Message = "an earlier attempt may have stored the plant; now: " + e.Message
	return &unknown
}

// sleep returns whether the context has not ended before.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

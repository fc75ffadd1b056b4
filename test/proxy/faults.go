package proxy

import (
	"math/rand/v2"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is a kind of fault, as reports show it.
type Kind string

// The kinds of faults. Each affects a single request, except for the last two, which affect a
// type for a whole run.
const (
	Unauthorized   Kind = "401 Unauthorized"
	Forbidden      Kind = "403 Forbidden"
	NoSuchResource Kind = "404, a Status that names no object"
	NoSuchObject   Kind = "404, a Status that names the object, which exists"
	NoSuchPath     Kind = "404, plain text"
	Conflict       Kind = "409 Conflict"
	Expired        Kind = "410 Expired"
	TooMany        Kind = "429 with Retry-After"
	Internal       Kind = "500 Internal Server Error"
	Unavailable    Kind = "503 Service Unavailable"
	GatewayTimeout Kind = "504 Gateway Timeout"
	CutBody        Kind = "answer cut in the middle"
	CorruptBody    Kind = "bytes of an answer corrupted"
	Stalled        Kind = "no answer until the client gave up"
	Reset          Kind = "connection reset, with all requests on it"
	Delayed        Kind = "request delayed until others overtook it"
	Repeated       Kind = "write sent to the server twice"
	Lost           Kind = "answer of a write lost"
	BadPages       Kind = "list bad after its first page"
	BadType        Kind = "list bad from the start, for the whole run"
)

// fault implements a kind of fault.
type fault struct {
	kind    Kind
	weight  int // relative frequency among those that apply
	applies func(requestInfo) bool
	answer  func(m *FaultInjector, a requestInfo, random *rand.Rand) http.HandlerFunc
}

var faults = []fault{
	{Unauthorized, 2, anyRequest, unauthorized},
	{Forbidden, 3, anyRequest, statusFault(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not")},
	{NoSuchResource, 3, anyRequest, statusFault(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")},
	{NoSuchObject, 3, mayClaimAbsence, notFound},
	{NoSuchPath, 3, anyRequest, func(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc { return RespondUnknownPath }},
	{Conflict, 3, writes, statusFault(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again")},
	{Expired, 3, anyRequest, statusFault(http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")},
	{TooMany, 2, anyRequest, tooMany},
	{Internal, 4, anyRequest, statusFault(http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver: request timed out")},
	{Unavailable, 4, anyRequest, statusFault(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request")},
	{GatewayTimeout, 3, anyRequest, statusFault(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the server was unable to return a response in the time allotted")},
	{CutBody, 4, notWatch, func(m *FaultInjector, _ requestInfo, _ *rand.Rand) http.HandlerFunc { return TruncateBody(m.upstream) }},
	{CorruptBody, 4, notWatch, func(m *FaultInjector, _ requestInfo, random *rand.Rand) http.HandlerFunc {
		return CorruptBytes(m.upstream, random)
	}},
	{Stalled, 1, anyRequest, func(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc { return Stall }},
	{Reset, 3, anyRequest, func(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc { return ResetConnection }},
	{Delayed, 5, notWatch, func(m *FaultInjector, _ requestInfo, random *rand.Rand) http.HandlerFunc {
		return m.queue.Delay(m.upstream, 1+random.IntN(12))
	}},
	{Repeated, 6, writes, func(m *FaultInjector, _ requestInfo, random *rand.Rand) http.HandlerFunc {
		return SendTwice(m.upstream, random.IntN(2) == 0)
	}},
	{Lost, 8, writes, func(m *FaultInjector, _ requestInfo, _ *rand.Rand) http.HandlerFunc {
		return LoseResponse(m.upstream)
	}},
}

func anyRequest(requestInfo) bool { return true }
func writes(a requestInfo) bool   { return a.class == write }
func notWatch(a requestInfo) bool { return a.class != watch } // a watch has no complete response

// mayClaimAbsence reports whether a false 404 that names the object is allowed: for writes,
// and for whole objects, which are read for the backup. A client could not detect it for the
// metadata of an owner.
func mayClaimAbsence(a requestInfo) bool {
	return a.name != "" && (a.class == write || a.class == get && a.whole)
}

func notFound(_ *FaultInjector, a requestInfo, _ *rand.Rand) http.HandlerFunc {
	return RespondNotFound(a.resource, a.name)
}

func unauthorized(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc {
	return RespondStatus(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized", "WWW-Authenticate", "Bearer")
}

func tooMany(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc {
	return RespondStatus(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests, please try again later", "Retry-After", "1")
}

func statusFault(code int, reason metav1.StatusReason, message string) func(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc {
	return func(*FaultInjector, requestInfo, *rand.Rand) http.HandlerFunc {
		return RespondStatus(code, reason, message)
	}
}

// slowKinds are the kinds that cost a client time, with their limits per run.
var slowKinds = map[Kind]int{Stalled: 2, TooMany: 4}

// drawFault returns a random fault that applies.
func drawFault(a requestInfo, random *rand.Rand) fault {
	fitting := slices.Clone(faults)
	fitting = slices.DeleteFunc(fitting, func(t fault) bool { return !t.applies(a) })
	sum := 0
	for _, t := range fitting {
		sum += t.weight
	}
	n := random.IntN(sum)
	for _, t := range fitting {
		if n -= t.weight; n < 0 {
			return t
		}
	}
	panic("unreachable: n is less than the sum of all shares")
}

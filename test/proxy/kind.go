package proxy

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is a kind of fault, in words for a reader.
type Kind string

// The kinds. Each is a fault of a single request, but for the last two, which are of
// a type for a whole run.
const (
	Unauthorized   Kind = "401 Unauthorized"
	Forbidden      Kind = "403 Forbidden"
	NoSuchResource Kind = "404, a Status that names no object"
	NoSuchObject   Kind = "404, a Status that names the object, which is there"
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
	Reset          Kind = "connection reset, with all that was under way on it"
	Delayed        Kind = "request delayed until others overtook it"
	Repeated       Kind = "write sent to the server twice"
	Lost           Kind = "answer of a write lost"
	BadPages       Kind = "list bad after its first page"
	BadType        Kind = "list bad from the start, for the whole run"
)

// Kinds are all of them, in the order of a report.
func Kinds() []Kind {
	out := make([]Kind, 0, len(tricks)+2)
	for _, t := range tricks {
		out = append(out, t.kind)
	}
	return append(out, BadPages, BadType)
}

// trick is how a kind of fault is done.
type trick struct {
	kind   Kind
	share  int // how often it is chosen beside the others that fit
	fits   func(ask) bool
	answer func(m *Mischief, a ask, dice *rand.Rand) http.HandlerFunc
}

var tricks = []trick{
	{Unauthorized, 2, anything, says401},
	{Forbidden, 3, anything, status(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not")},
	{NoSuchResource, 3, anything, status(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")},
	{NoSuchObject, 3, lies, notThere},
	{NoSuchPath, 3, anything, func(*Mischief, ask, *rand.Rand) http.HandlerFunc { return NotAPath }},
	{Conflict, 3, writes, status(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again")},
	{Expired, 3, anything, status(http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")},
	{TooMany, 2, anything, tooMany},
	{Internal, 4, anything, status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver: request timed out")},
	{Unavailable, 4, anything, status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request")},
	{GatewayTimeout, 3, anything, status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the server was unable to return a response in the time allotted")},
	{CutBody, 4, answered, func(m *Mischief, _ ask, _ *rand.Rand) http.HandlerFunc { return Cuts(m.through) }},
	{CorruptBody, 4, answered, func(m *Mischief, _ ask, dice *rand.Rand) http.HandlerFunc { return Corrupts(m.through, dice) }},
	{Stalled, 1, anything, func(*Mischief, ask, *rand.Rand) http.HandlerFunc { return Stalls }},
	{Reset, 3, anything, func(*Mischief, ask, *rand.Rand) http.HandlerFunc { return Resets }},
	{Delayed, 5, answered, func(m *Mischief, _ ask, dice *rand.Rand) http.HandlerFunc {
		return m.queue.Delays(m.through, 1+dice.IntN(12))
	}},
	{Repeated, 6, writes, func(m *Mischief, _ ask, dice *rand.Rand) http.HandlerFunc {
		return Repeats(m.raw, dice.IntN(2) == 0)
	}},
	{Lost, 8, writes, func(m *Mischief, _ ask, _ *rand.Rand) http.HandlerFunc { return Loses(m.raw, m.lose) }},
}

func anything(ask) bool   { return true }
func writes(a ask) bool   { return a.sort == write }
func answered(a ask) bool { return a.sort != watch } // a watch has no end at which to have it whole

// lies says of which requests a 404 in the right words may be a lie: of writes, and
// of whole objects, which are read to be saved. Told of an owner whose metadata is
// read to judge a reference, no client could know it from the truth.
func lies(a ask) bool { return a.name != "" && (a.sort == write || a.sort == get && a.whole) }

func notThere(_ *Mischief, a ask, _ *rand.Rand) http.HandlerFunc {
	return NotThere(a.resource, a.name)
}

func says401(*Mischief, ask, *rand.Rand) http.HandlerFunc {
	return Says(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized", "WWW-Authenticate", "Bearer")
}

func tooMany(*Mischief, ask, *rand.Rand) http.HandlerFunc {
	return Says(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests, please try again later", "Retry-After", "1")
}

func status(code int, reason metav1.StatusReason, message string) func(*Mischief, ask, *rand.Rand) http.HandlerFunc {
	return func(*Mischief, ask, *rand.Rand) http.HandlerFunc { return Says(code, reason, message) }
}

// slow are the kinds that cost a client time, and how often a run can afford them.
var slow = map[Kind]int{Stalled: 2, TooMany: 4}

// draw chooses one that fits.
func draw(a ask, dice *rand.Rand) trick {
	fitting := slices.Clone(tricks)
	fitting = slices.DeleteFunc(fitting, func(t trick) bool { return !t.fits(a) })
	sum := 0
	for _, t := range fitting {
		sum += t.share
	}
	n := dice.IntN(sum)
	for _, t := range fitting {
		if n -= t.share; n < 0 {
			return t
		}
	}
	panic("unreachable: n is less than the sum of all shares")
}

// Limits are the kinds that cost a client time, and how many of them a run has at
// most.
func Limits() map[Kind]int { return maps.Clone(slow) }

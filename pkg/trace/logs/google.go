package logs

import (
	"cmp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// google reads a LogEntry of Google Cloud whose payload is a google.cloud.audit.AuditLog. It has neither the URL of a
// request nor the level: selectors, and what a request has in its URL alone, are unknown. Its time is that of the entry.
func (r *reader) google(entry fields, in *around) error {
	payload, err := entry.get("protoPayload").object(nil)
	if err != nil {
		return err
	}
	if !r.is(googleAuditLog, in) {
		return errNothing
	}
	at, err := timeIn(entry.get("timestamp"))
	if err != nil {
		return err
	}
	if !payload.get("serviceName").is("k8s.io") {
		return nil // of the cluster, not in it
	}
	r.source.Events++
	r.answered = true
	r.source.Cover(at)
	operation, _ := entry.get("operation").object(nil)
	method := payload.get("methodName").text()
	e := event{level: "Metadata", request: payload.get("request"), response: payload.get("response")}
	e.ID, e.Received, e.Answered = cmp.Or(operation.get("id").text(), entry.get("insertId").text()), at, at
	e.Verb, e.Target = verbOf([]byte(method[strings.LastIndexByte(method, '.')+1:])), targetOf(method, payload.get("resourceName").text())
	if begins := string(operation.get("first")) == "true" && string(operation.get("last")) != "true"; begins || !e.wanted() || entry.get("labels").get("command.gke.io/dryRun").text() != "" {
		return nil
	}
	switch {
	case e.response != nil:
		e.level = "RequestResponse"
	case e.request != nil:
		e.level = "Request"
	}
	if e.Code, err = httpCode(payload.get("status"), e.response); err != nil {
		return err
	}
	e.User = googleUser(payload.get("authenticationInfo"), payload.get("requestMetadata"))
	return r.event(&e)
}

// targetOf reads a method, such as io.k8s.core.v1.pods.eviction.create, and the name of what it is called for, such as
// core/v1/namespaces/shop/pods/web/eviction. The target is empty if they are of another form.
func targetOf(method, name string) (t trace.RequestTarget) {
	parts := strings.Split(name, "/")
	if len(parts) < 3 {
		return t
	}
	i := strings.LastIndex(method, "."+parts[1]+".")
	words := strings.Split(method[i+1:], ".")[min(i+1, 1):] // resource, subresource, verb
	t = trace.RequestTarget{Group: shared(parts[0]), Version: shared(parts[1]), Resource: shared(words[0])}
	if t.Group == "core" || t.Group == "io.k8s.core" {
		t.Group = ""
	}
	if len(words) > 2 {
		t.Subresource = shared(words[1])
	}
	if parts = parts[2:]; parts[0] == "namespaces" && t.Resource != "namespaces" && len(parts) > 2 {
		t.Namespace, parts = shared(parts[1]), parts[2:]
	}
	if parts[0] != t.Resource {
		return trace.RequestTarget{}
	}
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	return t
}

// httpCodes are those of the API server's answers, by google.rpc.Code.
var httpCodes = []int{200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401}

// httpCode returns the code of an answer: that of a Status, which is the API server's own, or that of the
// entry; 0 if there is none.
func httpCode(status, response value) (int, error) {
	code, err := 0, error(nil)
	if strings.HasSuffix(response.get("@type").text(), "/v1.Status") || response.get("kind").is("Status") {
		err = response.get("code").decode(&code)
	}
	switch {
	case err != nil || code > 0 || status == nil && response == nil:
		return code, err
	case status.get("code").decode(&code) != nil || code < 0 || code >= len(httpCodes):
		return 500, nil
	}
	return httpCodes[code], nil
}

// googleUser returns who sent a request: whose authority was asked for, or else who called. Behind the account of a
// service may be others, of whom the first acts.
func googleUser(who, from value) trace.RequestUser {
	u := trace.RequestUser{Name: cmp.Or(who.get("principalEmail").text(), who.get("principalSubject").text()), Agent: from.get("callerSuppliedUserAgent").text()}
	_, _ = who.get("serviceAccountDelegationInfo").each('[', nil, func(_, by value) error {
		u.Impersonator = cmp.Or(u.Impersonator, by.get("principalSubject").text(), by.get("firstPartyPrincipal").get("principalEmail").text())
		return nil
	})
	if authority := who.get("authoritySelector").text(); authority != "" && authority != u.Name {
		u.Name, u.Impersonator = authority, cmp.Or(u.Impersonator, u.Name)
	}
	if ip := from.get("callerIp"); ip != nil {
		u.Addresses = []string{ip.text()}
	}
	return u
}

package proxy

import "encoding/json"

// The kinds of lies. Each is told in one response, unless its text says otherwise. A client can
// detect all of them; doc.go lists those that no client could detect.
const (
	OtherCode        Kind = "error status with the body of a success"
	FailureIn200     Kind = "200 with a Status that is a failure"
	HTML             Kind = "200 with HTML"
	ErrorDocument    Kind = "200 with a document of kind Error"
	MessageDocument  Kind = "200 with nothing but a message"
	Nothing          Kind = "200 with an empty body"
	NoDocument       Kind = "200 with JSON that is not an API object"
	NotFoundIn200    Kind = "200 with a Status that says the object is not found"
	NotFoundOfOther  Kind = "404 that names another object"
	OtherList        Kind = "list of another type"
	ObjectForList    Kind = "single object for a list"
	ListForObject    Kind = "list for a single object"
	TableForList     Kind = "Table for a list"
	TypesForList     Kind = "APIResourceList for a list"
	NoItems          Kind = "list without the field items"
	ItemsNoList      Kind = "items that are an object, text or a number"
	ItemsNoObjects   Kind = "null, text or numbers among the items"
	ItemElsewhere    Kind = "items in an impossible namespace"
	ItemNameless     Kind = "item without a name"
	ItemWithoutUID   Kind = "item without a UID"
	ItemOtherUID     Kind = "item with the UID of another object"
	ItemNoVersion    Kind = "items without resourceVersion"
	ListNoVersion    Kind = "list without resourceVersion"
	ItemsTwice       Kind = "every item twice"
	SameToken        Kind = "the same continue token again and again"
	TwoTokens        Kind = "two continue tokens in turn"
	NewTokens        Kind = "a new continue token for the same page each time"
	ExpiredTokens    Kind = "410 with a new continue token each time"
	CutShort         Kind = "list that ends though remainingItemCount says there is more"
	WrongCount       Kind = "wrong remainingItemCount"
	OlderPage        Kind = "page of an older state than the page before"
	OlderList        Kind = "list of an older state than the list before"
	LacksOwners      Kind = "list that lacks owners which a GET finds"
	OtherName        Kind = "object of another name"
	OtherNamespace   Kind = "object of another namespace"
	OtherKind        Kind = "object of another kind"
	OtherUID         Kind = "object with the UID of another object"
	StrangeUID       Kind = "object with a UID that no object has, a new one each time"
	WithoutUID       Kind = "object without a UID"
	WithoutVersion   Kind = "object without resourceVersion"
	EmptyDiscovery   Kind = "discovery of nothing"
	OtherDiscovery   Kind = "discovery of another kind"
	NoDiscovery      Kind = "404 for /api or /apis"
	LacksGroup       Kind = "discovery without a group that has an APIService"
	LacksCustomType  Kind = "discovery without a type that has a CustomResourceDefinition"
	LacksVerbs       Kind = "discovery without the verbs of a type that has a CustomResourceDefinition"
	LostType         Kind = "discovery that lacks a type it had before"
	OtherTable       Kind = "Table of another kind"
	OtherReview      Kind = "access review of another kind"
	LacksWhole       Kind = "list of whole objects that lacks some"
	SwappedUIDs      Kind = "whole objects with each other's UIDs"
	WholeElsewhere   Kind = "whole objects of another namespace"
	MetadataForWhole Kind = "metadata in place of whole objects"
	DeletedOther     Kind = "DELETE answered with another object"
	DeletedNot       Kind = "DELETE answered with Success, but not executed"
	PatchedOther     Kind = "PATCH answered with an object of another UID"
	PatchedNot       Kind = "PATCH answered with the unchanged object, but not executed"
	CreatedOther     Kind = "POST answered with another object"
	EventOfOther     Kind = "watch events about another kind"
	EventDeleted     Kind = "watch events DELETED for objects that exist"
	ManyItems        Kind = "list with 20 MiB of items that do not exist"
	HugeItems        Kind = "list with items of 15 MiB"
	HugeObjects      Kind = "whole objects of 15 MiB"
)

// lie implements a kind of lie.
type lie struct {
	kind    Kind
	weight  int // relative frequency
	most    int // limit per run; 0: none
	applies func(*requestDetails) bool
	// tell returns the false response, or nil if this lie cannot be told.
	tell func(*falseResponse) *response
}

var lieKinds = []*lie{
	{OtherCode, 3, 0, anyAnswer, otherCode},
	{FailureIn200, 3, 0, anyAnswer, failureIn200},
	{HTML, 2, 0, anyAnswer, instead("text/html", "<!DOCTYPE html><html><body>Your session has expired. <a href=\"/login\">Log in</a></body></html>")},
	{ErrorDocument, 3, 0, anyAnswer, instead(contentJSON, `{"kind":"Error","apiVersion":"v1","code":"SESSION","message":"your session has expired"}`)},
	{MessageDocument, 3, 0, anyAnswer, instead(contentJSON, `{"message":"your session has expired"}`)},
	{Nothing, 2, 0, anyAnswer, instead(contentJSON, "")},
	{NoDocument, 2, 0, anyAnswer, noDocument},
	{OtherList, 3, 0, metadataList, otherList},
	{ObjectForList, 2, 0, metadataList, objectForList},
	{ListForObject, 2, 0, anyObject, listForObject},
	{TableForList, 2, 0, metadataList, tableForList},
	{TypesForList, 2, 0, metadataList, typesForList},
	{NoItems, 3, 0, either(metadataList, wholeList), noItems},
	{ItemsNoList, 3, 0, either(metadataList, wholeList), itemsNoList},
	{ItemsNoObjects, 3, 0, either(metadataList, wholeList), itemsNoObjects},
	{ItemElsewhere, 3, 0, metadataList, itemElsewhere},
	{ItemNameless, 2, 0, metadataList, anItem(func(_ *falseResponse, meta map[string]any) { delete(meta, "name") })},
	{ItemWithoutUID, 2, 0, metadataList, anItem(func(_ *falseResponse, meta map[string]any) { delete(meta, "uid") })},
	{ItemOtherUID, 3, 0, metadataList, anItem(func(t *falseResponse, meta map[string]any) { meta["uid"] = string(t.other(textOf(meta, "uid"))) })},
	{ItemNoVersion, 2, 0, metadataList, everyItem(func(_ *falseResponse, meta map[string]any) { delete(meta, "resourceVersion") })},
	{ListNoVersion, 2, 0, metadataList, listNoVersion},
	{ItemsTwice, 2, 0, metadataList, itemsTwice},
	{SameToken, 2, 3, either(firstPage, wholeList), withoutEnd(SameToken)},
	{TwoTokens, 2, 3, either(firstPage, wholeList), withoutEnd(TwoTokens)},
	{NewTokens, 2, 3, either(firstPage, wholeList), withoutEnd(NewTokens)},
	{ExpiredTokens, 2, 3, either(firstPage, wholeList), withoutEnd(ExpiredTokens)},
	{CutShort, 4, 0, metadataList, cutShort},
	{WrongCount, 2, 0, metadataList, wrongCount},
	{OlderPage, 5, 0, laterPage, olderPage},
	{OlderList, 4, 0, firstPage, olderList},
	{LacksOwners, 5, 0, metadataList, lacksOwners},
	{OtherName, 3, 0, anyObject, anObject(func(t *falseResponse, meta map[string]any) { meta["name"] = t.name + "-2" })},
	{OtherNamespace, 2, 0, anyObject, otherNamespace},
	{OtherKind, 2, 0, anyObject, otherKind},
	{OtherUID, 5, 0, anyObject, anObject(func(t *falseResponse, meta map[string]any) { meta["uid"] = string(t.other(textOf(meta, "uid"))) })},
	{StrangeUID, 3, 0, anyObject, anObject(func(t *falseResponse, meta map[string]any) { meta["uid"] = t.unknownUID() })},
	{WithoutUID, 2, 0, anyObject, anObject(func(_ *falseResponse, meta map[string]any) { delete(meta, "uid") })},
	{WithoutVersion, 2, 0, anyObject, anObject(func(_ *falseResponse, meta map[string]any) { delete(meta, "resourceVersion") })},
	{NotFoundIn200, 4, 0, anyObject, notFoundIn200},
	{NotFoundOfOther, 3, 0, anyObject, notFoundOfOther},
	{EmptyDiscovery, 3, 0, apiRoots, emptyDiscovery},
	{OtherDiscovery, 2, 0, anyDiscovery, otherDiscovery},
	{NoDiscovery, 4, 0, apiRoots, noDiscovery},
	{LacksGroup, 5, 0, allGroups, lacksGroup},
	{LacksCustomType, 5, 0, anyDiscovery, lacksCustomType},
	{LacksVerbs, 3, 0, anyDiscovery, lacksVerbs},
	{LostType, 8, 0, anyDiscovery, lostType},
	{OtherTable, 3, 0, anyTable, otherTable},
	{OtherReview, 2, 0, anyReview, otherReview},
	{LacksWhole, 8, 0, wholeList, lacksWhole},
	{SwappedUIDs, 8, 0, wholeList, swappedUIDs},
	{WholeElsewhere, 6, 0, wholeList, wholeElsewhere},
	{MetadataForWhole, 5, 0, either(wholeList, wholeObject), metadataForWhole},
	{DeletedOther, 4, 0, deletes, deletedOther},
	{DeletedNot, 4, 0, deletes, deletedNot},
	{PatchedOther, 5, 0, patches, anObject(func(t *falseResponse, meta map[string]any) { meta["uid"] = string(t.other(textOf(meta, "uid"))) })},
	{PatchedNot, 5, 0, patches, patchedNot},
	{CreatedOther, 6, 0, creates, createdOther},
	{EventOfOther, 6, 0, watches, eventOfOther},
	{EventDeleted, 8, 0, watches, eventDeleted},
	{ManyItems, 1, 2, metadataList, manyItems},
	{HugeItems, 1, 2, metadataList, hugeItems},
	{HugeObjects, 3, 2, either(wholeList, wholeObject), hugeObjects},
}

func either(fits ...func(*requestDetails) bool) func(*requestDetails) bool {
	return func(q *requestDetails) bool {
		for _, f := range fits {
			if f(q) {
				return true
			}
		}
		return false
	}
}

// Lies returns all kinds of lies, in the order of a report.
func Lies() []Kind {
	out := make([]Kind, len(lieKinds))
	for i, k := range lieKinds {
		out[i] = k.kind
	}
	return out
}

func encoded(doc any) []byte {
	body, err := json.Marshal(doc)
	if err != nil {
		panic(err) // cannot fail for a document decoded from JSON
	}
	return body
}

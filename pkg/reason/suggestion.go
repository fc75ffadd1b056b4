package reason

// Suggestion is what a person may do about what was found.
type Suggestion struct {
	Sentence string   `json:"sentence"`
	Command  []string `json:"command"` // its words, unquoted; may be empty
}

package color

import "fmt"

// Mode is the value of the flag --color.
type Mode string

// The modes.
const (
	Auto   Mode = "auto" // on a terminal, unless NO_COLOR is set
	Always Mode = "always"
	Never  Mode = "never"
)

// ParseMode returns the mode that s names.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Auto, Always, Never:
		return m, nil
	}
	return "", fmt.Errorf("%q is none of %s, %s, %s", s, Auto, Always, Never)
}

// Set parses s into m.
func (m *Mode) Set(s string) error {
	parsed, err := ParseMode(s)
	if err == nil {
		*m = parsed
	}
	return err
}

func (m *Mode) String() string { return string(*m) }

// Type returns the name of the value in help texts.
func (m *Mode) Type() string { return "when" }

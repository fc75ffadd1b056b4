package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// patience is the time limit of a block.
const patience = time.Minute

// answer is the result of a command.
type answer struct {
	output []string // both streams, as on a terminal
	code   int
}

// startsPlugin starts the plugin as kubectl does, which takes three times as long as the plugin itself until it
// does that. Package e2e tests that it does.
const startsPlugin = `kubectl() { if [ "$1" = gc ]; then shift; kubectl-gc "$@"; else command kubectl "$@"; fi; }
`

// shell runs the commands of a block in one shell, so that they share variables and the working
// directory. It confirms the questions of commands. If a command ends the shell, there are fewer
// answers than commands.
func shell(ctx context.Context, dir string, env, commands []string) ([]answer, error) {
	var script strings.Builder
	script.WriteString(startsPlugin + "set -o pipefail\ntrap 'printf \"\\036%d\\036\" $?' EXIT\n")
	for _, c := range commands {
		fmt.Fprintf(&script, "%s\nprintf '\\036%%d\\036' $?\n", c)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	keyboard, seat, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer keyboard.Close()
	go func() { _, _ = io.Copy(io.Discard, keyboard) }() // discards the echo of the typed keys
	screen := &screen{keyboard: keyboard}
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, env, seat, screen, screen
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	seat.Close()
	var exit *exec.ExitError
	if err != nil && (ctx.Err() != nil || !errors.As(err, &exit)) {
		return nil, fmt.Errorf("run %q: %w\n%s", commands, err, screen)
	}
	return screen.answers(len(commands)), nil
}

// question matches the questions for which a command waits.
var question = regexp.MustCompile(`Type ([0-9]+|yes) to confirm: $`)

// screen records the output, and answers questions.
type screen struct {
	keyboard *os.File
	mu       sync.Mutex
	text     bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	asked := question.FindSubmatch(s.text.Bytes())
	if asked == nil {
		return len(p), nil
	}
	keys := string(asked[1]) + "\n"
	s.text.WriteString(keys)
	_, err := s.keyboard.WriteString(keys)
	return len(p), err
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// answers returns the output before each separator, at most most of them.
func (s *screen) answers(most int) []answer {
	var out []answer
	parts := strings.Split(s.String(), "\x1e")
	for i := 0; i+1 < len(parts) && len(out) < most; i += 2 {
		code, err := strconv.Atoi(parts[i+1])
		if err != nil {
			code = -1
		}
		out = append(out, answer{trimmed(strings.Split(parts[i], "\n")), code})
	}
	return out
}

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

// patience is how long a block may take.
const patience = time.Minute

// answer is what came of a command.
type answer struct {
	said []string // on both streams, as on a terminal
	code int
}

// shell runs the commands of a block, one after the other, in one shell: what they set
// holds for those after them. At a question it types what a reader would who means it.
// There are less answers than commands where one of them ends the shell.
func shell(ctx context.Context, dir string, env, commands []string) ([]answer, error) {
	var script strings.Builder
	script.WriteString("set -o pipefail\ntrap 'printf \"\\036%d\\036\" $?' EXIT\n")
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
	go func() { _, _ = io.Copy(io.Discard, keyboard) }() // what is typed is echoed
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

// question is one at which nothing is done before somebody answers.
var question = regexp.MustCompile(`(?:Delete ([0-9,]+) objects?, change [0-9,]+\? Type the number of objects to delete|Type yes): $`)

// screen is what is said, and answers questions.
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
	keys := "yes\n"
	if asked[1] != nil {
		keys = strings.ReplaceAll(string(asked[1]), ",", "") + "\n"
	}
	s.text.WriteString(keys)
	_, err := s.keyboard.WriteString(keys)
	return len(p), err
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// answers are what was said before each mark, at most so many.
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

//go:build unix

package backup

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock has open return at once where a pipe was put in the place of a file.
const nonblock = syscall.O_NONBLOCK

// exposed answers an *Exposed where others than this user and root may write.
func exposed(info fs.FileInfo) error {
	const byOthers = 0o022
	if info.Mode().Perm()&byOthers != 0 {
		return &WorldWritableError{fmt.Sprintf("others may write to it (%s)", info.Mode())}
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok && int(of.Uid) != os.Geteuid() && of.Uid != 0 {
		return &WorldWritableError{fmt.Sprintf("it belongs to another user (uid %d)", of.Uid)}
	}
	return nil
}

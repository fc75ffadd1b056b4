//go:build unix

package backup

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock makes open return immediately if a pipe has replaced the file.
const nonblock = syscall.O_NONBLOCK

// checkWorldWritable returns a WorldWritableError if anyone except this user and root
// may write to the file.
func checkWorldWritable(info fs.FileInfo) error {
	const groupOrOthers = 0o022
	if info.Mode().Perm()&groupOrOthers != 0 {
		return &WorldWritableError{fmt.Sprintf("others may write to it (%s)", info.Mode())}
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return &WorldWritableError{fmt.Sprintf("it belongs to another user (uid %d)", stat.Uid)}
	}
	return nil
}

//go:build !unix

package backup

import "io/fs"

// nonblock is only needed where folders can contain pipes.
const nonblock = 0

// checkWorldWritable does nothing: the file mode does not say who may write.
func checkWorldWritable(fs.FileInfo) error { return nil }

package object

import "errors"

// ErrTooLarge reports an object above its reader's limit. It was not read.
var ErrTooLarge = errors.New("too large")

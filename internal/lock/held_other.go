//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package lock

import "errors"

func held(string) (bool, error) { return false, errors.ErrUnsupported }

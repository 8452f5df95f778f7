//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package statedir

import "errors"

func locked(string) (bool, error) { return false, errors.ErrUnsupported }

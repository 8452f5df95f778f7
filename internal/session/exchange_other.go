//go:build !linux

package session

import "errors"

func exchange(_, _ string) error { return errors.ErrUnsupported }

//go:build !unix

package main

import "os/exec"

func own(*exec.Cmd) {}

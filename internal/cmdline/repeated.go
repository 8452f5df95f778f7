package cmdline

import "github.com/urfave/cli/v2"

// Repeated is a flag that may be given several times. In its help it stands once: the library names it twice,
// with all its names, and nothing else then fits the line.
func Repeated(flag *cli.StringSliceFlag) cli.DocGenerationFlag { return &repeated{flag} }

type repeated struct{ *cli.StringSliceFlag }

// String describes the flag in a help text.
func (f *repeated) String() string {
	return cli.FlagStringer(struct{ cli.DocGenerationFlag }{f.StringSliceFlag})
}

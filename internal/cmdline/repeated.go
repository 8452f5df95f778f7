package cmdline

import "github.com/urfave/cli/v2"

// Repeated returns a flag that may be given several times. The library's own
// help would name it twice.
func Repeated(flag *cli.StringSliceFlag) cli.DocGenerationFlag { return &repeated{flag} }

type repeated struct{ *cli.StringSliceFlag }

// String describes the flag in a help text.
func (f *repeated) String() string {
	return cli.FlagStringer(struct{ cli.DocGenerationFlag }{f.StringSliceFlag})
}
